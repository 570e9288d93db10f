"""A walk through a maze as games show it: perspective, textures, light that fades, moving figures, a head-up display.

game.py WIDTH HEIGHT RATE FRAMES writes raw RGB24 to standard output. The same numbers give the same frames. It runs in a
process of its own, under a Python that has numpy.
"""

import sys

import numpy as np

SIZE = 256  # of a texture; a power of two
LEVELS = 6  # of which each is half of the one before
# 1 to 3 are walls with a texture; the camera walks around in the corridor.
MAP = np.array([[int(c) for c in line] for line in (
    "1112221113331111", "1000000000000001", "1000000000000002", "1003110011220003", "2003000000020001",
    "2001000000010001", "1001002200030002", "1000002200000001", "3000001100000001", "1002001100010003",
    "1001000000020001", "2001000000010001", "1003220011130002", "1000000000000001", "1000000000000001",
    "1113332221112221")])
PATH = np.array([(1.9, 1.9), (8, 1.6), (14, 1.9), (13.7, 8), (14.1, 14.1), (8, 13.6), (1.9, 14), (2.1, 8)])
FIGURES = [(8.0, 2.2, 0.6), (13.6, 5.5, 0.9), (5.0, 1.4, 0.3), (12.5, 12.5, 0.7), (10.5, 1.9, 1.1), (14.3, 9.0, 0.5)]


def smooth_noise(random, cells):
    """Noise of SIZE x SIZE between 0 and 1 that repeats, from `cells` random values a side and their interpolation."""
    grid = random.random_sample((cells, cells))
    place = np.arange(SIZE) * cells / SIZE
    low, part = place.astype(int), place % 1
    part = part * part * (3 - 2 * part)
    high = (low + 1) % cells
    rows = grid[low] * (1 - part[:, None]) + grid[high] * part[:, None]
    return rows[:, low] * (1 - part) + rows[:, high] * part


def textures():
    """Four textures with their smaller levels, as one array of samples (n, 3), and where each level begins."""
    random = np.random.RandomState(15)
    rough = sum(smooth_noise(random, 4 << i) / 2 ** i for i in range(6)) / 2
    fine = random.random_sample((SIZE, SIZE))
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    row = y // 32
    shifted = (x + row % 2 * 32) % SIZE
    mortar = (y % 32 < 3) | (shifted % 64 < 3)
    shade = random.random_sample((8, 4))[row, shifted // 64] * 0.35 + 0.65
    brick = np.where(mortar, 0.62, shade)[..., None] * np.where(mortar[..., None], [150, 145, 135], [168, 78, 58])
    stone = (0.55 + 0.45 * rough)[..., None] * [148, 150, 158]
    stone = stone * np.where((x % 128 < 2) | (y % 128 < 2), 0.45, 1)[..., None]
    grain = 0.5 + 0.5 * np.sin(x / 3.0 + 9 * smooth_noise(random, 8) + y / 61.0)
    wood = (0.55 + 0.3 * grain + 0.15 * rough)[..., None] * [150, 108, 62]
    wood = wood * np.where(x % 64 < 2, 0.3, 1)[..., None]
    tiles = np.where((x // 64 + y // 64) % 2, 0.95, 0.6)[..., None] * [112, 124, 118]
    tiles = tiles * np.where((x % 64 < 2) | (y % 64 < 2), 0.5, 1)[..., None]
    samples, starts, place = [], [], 0
    for texture in (brick, stone, wood, tiles):
        level = texture * (0.75 + 0.25 * rough + 0.2 * (fine - 0.5))[..., None]
        begins = []
        for _ in range(LEVELS):
            begins.append(place)
            place += level.shape[0] * level.shape[1]
            samples.append(level.reshape(-1, 3).astype(np.float32))
            side = level.shape[0] // 2
            level = level.reshape(side, 2, side, 2, 3).mean(axis=(1, 3))
        starts.append(begins)
    return np.concatenate(samples), np.array(starts)


def spline(place):
    """A point of the closed path, which passes through all points of PATH, one for each unit."""
    index = int(place) % len(PATH)
    a, b, c, d = (PATH[(index + i) % len(PATH)] for i in (-1, 0, 1, 2))
    t = place % 1
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t * t + (3 * b - 3 * c + d - a) * t ** 3)


class Scene:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.samples, self.starts = textures()
        self.focal = 0.9 * height
        self.side = ((np.arange(width) + 0.5 - width / 2) / self.focal).astype(np.float32)
        self.rows = (np.arange(height) + 0.5).astype(np.float32)[:, None]
        y, x = np.mgrid[-1:1:128j, -1:1:64j]
        body = (np.abs(x) < 0.55 - 0.25 * np.abs(y - 0.1)) & (y > -0.45)
        head = (x / 0.42) ** 2 + ((y + 0.65) / 0.32) ** 2 < 1
        eyes = ((np.abs(x) - 0.16) / 0.08) ** 2 + ((y + 0.7) / 0.06) ** 2 < 1
        light = (0.45 + 0.55 * np.clip(1 - (x + 0.3) ** 2, 0, 1)) * (0.85 + 0.15 * np.sin(y * 40))
        color = np.where(head[..., None], [196, 148, 110], [70, 110, 60]) * light[..., None]
        self.figure = np.where(eyes[..., None], [235, 220, 60], color)
        self.solid = body | head

    def walls(self, eye, direction):
        """For each column: distance along the direction of view, place along the wall, texture."""
        dx = direction[0] - direction[1] * self.side
        dy = direction[1] + direction[0] * self.side
        cell_x, cell_y = np.full(self.width, int(eye[0])), np.full(self.width, int(eye[1]))
        step_x, step_y = np.where(dx < 0, -1, 1), np.where(dy < 0, -1, 1)
        delta_x, delta_y = np.abs(1 / dx), np.abs(1 / dy)
        next_x = np.where(dx < 0, eye[0] - cell_x, cell_x + 1 - eye[0]) * delta_x
        next_y = np.where(dy < 0, eye[1] - cell_y, cell_y + 1 - eye[1]) * delta_y
        across, open_ = np.zeros(self.width, bool), np.ones(self.width, bool)
        while open_.any():
            along_x = open_ & (next_x < next_y)
            along_y = open_ & ~along_x
            cell_x[along_x] += step_x[along_x]
            cell_y[along_y] += step_y[along_y]
            next_x[along_x] += delta_x[along_x]
            next_y[along_y] += delta_y[along_y]
            across[along_x], across[along_y] = True, False
            open_ &= MAP[cell_y, cell_x] == 0
        distance = np.where(across, next_x - delta_x, next_y - delta_y).astype(np.float32)
        along = np.where(across, eye[1] + distance * dy, eye[0] + distance * dx).astype(np.float32)
        return distance, along % 1, MAP[cell_y, cell_x] - 1, across

    def sample(self, texture, u, v, level):
        """Bilinear samples; `u` and `v` count textures, `level` halvings."""
        side = SIZE >> level
        start = self.starts[texture, level]
        x, y = u * side - 0.5, v * side - 0.5
        low_x, low_y = np.floor(x), np.floor(y)
        part_x, part_y = (x - low_x)[..., None], (y - low_y)[..., None]
        left, top = low_x.astype(np.int32) % side, low_y.astype(np.int32) % side
        right, bottom = (left + 1) % side, (top + 1) % side
        top, bottom = start + top * side, start + bottom * side
        upper = self.samples[top + left] * (1 - part_x) + self.samples[top + right] * part_x
        lower = self.samples[bottom + left] * (1 - part_x) + self.samples[bottom + right] * part_x
        return upper * (1 - part_y) + lower * part_y

    def frame(self, second):
        place = second * 0.32
        eye = spline(place)
        ahead = spline(place + 0.25) - eye
        angle = np.arctan2(ahead[1], ahead[0]) + 0.35 * np.sin(second * 1.1) + 0.05 * np.sin(second * 5.3)
        direction = np.array([np.cos(angle), np.sin(angle)])
        horizon = self.height * (0.5 + 0.012 * np.sin(second * 9) + 0.05 * np.sin(second * 0.7))
        distance, along, texture, across = self.walls(eye, direction)

        offset = self.rows - horizon
        half = self.focal * 0.5 / distance
        wall = np.abs(offset) < half
        depth = np.where(wall, distance, 0.5 * self.focal / np.maximum(np.abs(offset), 1e-3)).astype(np.float32)
        world_x = eye[0] + depth * (direction[0] - direction[1] * self.side)
        world_y = eye[1] + depth * (direction[1] + direction[0] * self.side)
        u = np.where(wall, along, world_x).astype(np.float32)
        v = np.where(wall, 0.5 + offset / self.focal * distance, world_y).astype(np.float32)
        kind = np.where(wall, texture, np.where(offset > 0, 3, 1))
        # Texture samples that one pixel of the picture spans.
        span = np.where(wall, SIZE * depth / self.focal, SIZE * depth * np.sqrt(2 * depth) / self.focal)
        level = np.clip(np.log2(np.maximum(span, 1)) + 0.3, 0, LEVELS - 1).astype(np.int32)
        picture = self.sample(kind, u, v, level)
        light = np.where(wall & across, 0.8, 1) * np.clip(1.25 / (1 + 0.16 * depth), 0, 1)
        picture *= light.astype(np.float32)[..., None]

        figures = []
        for x, y, speed in FIGURES:
            at = np.array([x + 0.5 * np.sin(second * speed * 3), y + 0.35 * np.cos(second * speed * 2.2)]) - eye
            figures.append((at @ direction, at @ np.array([-direction[1], direction[0]])))
        for far, aside in sorted(figures, reverse=True):
            if far > 0.3:
                self.draw_figure(picture, far, aside, horizon, distance)
        self.display(picture, second)
        return np.clip(picture, 0, 255).astype(np.uint8)

    def draw_figure(self, picture, far, aside, horizon, distance):
        tall = self.focal * 0.75 / far
        wide = tall / 2
        left = self.width / 2 + aside / far * self.focal - wide / 2
        top = horizon + self.focal * 0.5 / far - tall
        xs = np.arange(max(0, int(left)), min(self.width, int(left + wide) + 1))
        xs = xs[distance[xs] > far] if len(xs) else xs
        ys = np.arange(max(0, int(top)), min(self.height, int(top + tall) + 1))
        if not len(xs) or not len(ys):
            return
        column = np.clip(((xs + 0.5 - left) / wide * 64).astype(int), 0, 63)
        row = np.clip(((ys + 0.5 - top) / tall * 128).astype(int), 0, 127)
        solid = self.solid[row][:, column]
        color = self.figure[row][:, column] * min(1, 1.25 / (1 + 0.16 * far))
        area = np.ix_(ys, xs)
        picture[area] = np.where(solid[..., None], color, picture[area])

    def display(self, picture, second):
        """Cross-hairs, two bars that change, a tool in the hand, and a map with the place on it."""
        h, w = self.height, self.width
        unit = h // 90
        y, x = h // 2, w // 2
        picture[y - 3 * unit:y - unit, x - 1:x + 1] = picture[y + unit:y + 3 * unit, x - 1:x + 1] = (230, 255, 230)
        picture[y - 1:y + 1, x - 3 * unit:x - unit] = picture[y - 1:y + 1, x + unit:x + 3 * unit] = (230, 255, 230)
        for number, (color, phase) in enumerate((((210, 50, 40), 0.4), ((60, 120, 220), 1.3))):
            top = h - (5 + 4 * number) * unit
            picture[top:top + 3 * unit, 3 * unit:33 * unit] *= 0.4
            filled = int((0.6 + 0.35 * np.sin(second * phase)) * 30 * unit)
            picture[top:top + 3 * unit, 3 * unit:3 * unit + filled] = color
        left = int(w * 0.62 + 1.5 * unit * np.sin(second * 4.5))
        top = int(h * 0.78 + 1.0 * unit * np.abs(np.sin(second * 4.5)))
        for row in range(top, h):
            begin = left - (row - top) // 3
            picture[row, begin:begin + 14 * unit] = (52 + (row - top) // 6, 54 + (row - top) // 6, 60)
            picture[row, begin + 2 * unit:begin + 3 * unit] = (150, 152, 160)
        small = np.kron(MAP > 0, np.ones((unit, unit), bool))
        corner = picture[2 * unit:2 * unit + small.shape[0], w - 2 * unit - small.shape[1]:w - 2 * unit]
        corner *= 0.5
        corner[small] = (200, 200, 190)
        at = (spline(second * 0.32) * unit).astype(int)
        corner[at[1]:at[1] + unit, at[0]:at[0] + unit] = (255, 60, 60)


def main():
    width, height, rate, frames = map(int, sys.argv[1:5])
    scene = Scene(width, height)
    for index in range(frames):
        sys.stdout.buffer.write(scene.frame(index / rate).tobytes())


if __name__ == "__main__":
    main()
