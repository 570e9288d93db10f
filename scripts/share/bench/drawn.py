"""Which drawn frame each frame of a recording shows, and how good it is: PSNR and SSIM as ffmpeg's filters have them.

drawn.py RECORDED WIDTH HEIGHT ORDER NEUTRAL REFERENCE... prints JSON. All files are raw NV12 of this size. NEUTRAL and each
REFERENCE have all pictures that were drawn, scaled in another way: programs scale differently, and that is no loss of the
encoder's, so the REFERENCE that fits best counts. NEUTRAL is the same for all programs, so that what scaling loses counts,
too. ORDER is a JSON list: which of them each drawn frame was. It runs in a process of its own, under a Python that has
numpy.
"""

import json
import os
import sys

import numpy as np


def small(frames, width, height, step=4):
    """Luma in means of `step` by `step`, one row a frame."""
    rows, columns = height // step, width // step
    out = np.empty((len(frames), rows * columns))
    for index, frame in enumerate(frames):
        luma = frame[:height * width].reshape(height, width)[:rows * step, :columns * step]
        out[index] = luma.reshape(rows, step, columns, step).mean(axis=(1, 3)).ravel()
    return out


def distances(recorded, drawn):
    """The squared distance of each recorded frame to each drawn one."""
    middle = drawn.mean(axis=0)
    a, b = recorded - middle, drawn - middle
    return np.maximum(0, (a * a).sum(axis=1)[:, None] + (b * b).sum(axis=1)[None] - 2 * a @ b.T)


def pair(cost):
    """For each row the column that it shows. Columns never go back, and the sum of the costs is the least that there is;
    of equal ones the earliest."""
    rows, columns = cost.shape
    best, came = cost[0].copy(), np.zeros((rows, columns), dtype=int)
    for row in range(1, rows):
        low = np.minimum.accumulate(best)
        # Where the least so far was first reached.
        fresh = np.concatenate(([True], best[1:] < low[:-1]))
        came[row] = np.maximum.accumulate(np.where(fresh, np.arange(columns), 0))
        best = cost[row] + low
    path = [int(np.argmin(best))]
    for row in range(rows - 1, 0, -1):
        path.append(int(came[row, path[-1]]))
    return path[::-1]


def planes(frame, width, height):
    luma = frame[:width * height].reshape(height, width)
    chroma = frame[width * height:].reshape(height // 2, width // 2, 2)
    return luma, chroma[..., 0], chroma[..., 1]


def _blocks(plane):
    """Sums of 4 by 4, then of each 2 by 2 of them: windows of 8 by 8 every 4 samples."""
    rows, columns = plane.shape[0] // 4, plane.shape[1] // 4
    sums = plane[:rows * 4, :columns * 4].reshape(rows, 4, columns, 4).sum(axis=(1, 3))
    return sums[:-1, :-1] + sums[1:, :-1] + sums[:-1, 1:] + sums[1:, 1:]


def ssim(a, b):
    a, b = a.astype(np.float32), b.astype(np.float32)
    first, second = _blocks(a), _blocks(b)
    squares, products = _blocks(a * a + b * b), _blocks(a * b)
    c1, c2 = .01 * .01 * 255 * 255 * 64 * 64, .03 * .03 * 255 * 255 * 64 * 63
    variances, covariance = squares * 64 - first * first - second * second, products * 64 - first * second
    return float(((2 * first * second + c1) * (2 * covariance + c2)
                  / ((first * first + second * second + c1) * (variances + c2))).mean())


def error(a, b):
    """The sum of squared differences."""
    difference = a.astype(np.int16) - b
    return int(np.square(difference, dtype=np.int32).sum(dtype=np.int64))


def quality(recorded, frames, pairs, width, height):
    """PSNR and SSIM of the recorded frames beside those that they show."""
    mean = sum(error(frame, frames[index]) for frame, index in zip(recorded, pairs)) / (len(pairs) * len(frames[0]))
    # Of the planes by their samples, as ffmpeg's "All". Sixty frames do.
    values = []
    for frame, index in list(zip(recorded, pairs))[::max(1, len(pairs) // 60)]:
        y, u, v = (ssim(a, b) for a, b in zip(planes(frame, width, height), planes(frames[index], width, height)))
        values.append((4 * y + u + v) / 6)
    return float(10 * np.log10(255 * 255 / max(mean, 1e-9))), float(np.mean(values))


def main():
    recorded_path, width, height, order, neutral_path, *references = sys.argv[1:]
    width, height, order = int(width), int(height), json.loads(order)
    size = width * height * 3 // 2
    recorded, neutral, *drawn = (
        np.memmap(path, np.uint8, "r").reshape(-1, size) for path in (recorded_path, neutral_path, *references))
    paired = pair(distances(small(recorded, width, height), small(drawn[0], width, height))[:, order])
    pairs = [order[index] for index in paired]
    # Some frames tell which fits.
    some = range(0, len(pairs), max(1, len(pairs) // 20))
    path, frames = min(zip(references, drawn), key=lambda one: sum(
        error(recorded[number], one[1][pairs[number]]) for number in some))
    psnr, similarity = quality(recorded, frames, pairs, width, height)
    whole_psnr, whole_ssim = quality(recorded, neutral, pairs, width, height)
    # Of the drawn frames that differ from the one before.
    changed = [index for index in range(1, len(order)) if order[index] != order[index - 1]]
    # A frame is shown if it, or one after it that looks the same, is.
    shown = {max((c for c in changed if c <= index), default=0) for index in paired}
    print(json.dumps({
        "psnr": psnr, "ssim": similarity, "whole_psnr": whole_psnr, "whole_ssim": whole_ssim,
        "scaled": os.path.basename(path).split(".")[0], "changed": len(changed), "shown": len(shown & set(changed))}))


if __name__ == "__main__":
    main()
