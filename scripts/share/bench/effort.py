"""Half of the machine's processor time, by a cgroup's quota: what viewers get from an effort that follows the processor,
and from fixed ones."""

import os

import cgroup
import clips
import contenders
import material
import quality
import report

# A wide monitor at 60 frames a second: high takes more than one core for it, and low takes less.
WIDTH, HEIGHT, RATE, KBPS = 2560, 1080, 60, 12000
_PERIOD = 100_000


class Quota(cgroup.Cgroup):
    """A CPU cgroup that gets so many cores' time."""

    def __init__(self, cores):
        super().__init__("cpu", "effort")
        quota = int(cores * _PERIOD)
        if self.unified:
            self.write("max", f"{quota} {_PERIOD}")
        else:
            self.write("cfs_period_us", str(_PERIOD))
            self.write("cfs_quota_us", str(quota))


def contestants(bin_dir):
    """The effort that follows the processor, and each fixed one."""
    cap = {"memory": {"cap_bytes": 209_715_200}, "buffer": {"max_bytes": "8MiB"}}
    fixed = [contenders.Upcast(bin_dir, f"{effort}, fixed", {
        **cap, "video": {"effort": effort, "adaptive_effort": "false"}}) for effort in ("high", "normal", "low")]
    return [contenders.Upcast(bin_dir, "high, adaptive", {**cap, "video": {"effort": "high"}}), *fixed]


def run(bin_dir, nginx, folder, seconds, rounds, film, say):
    """Natural motion by each in turn."""
    os.makedirs(folder, exist_ok=True)
    audio = material.make_audio(seconds, folder)
    clip = clips.make("film", folder, WIDTH, HEIGHT, seconds, film, rate=RATE)
    source = quality.Source(clip, WIDTH, HEIGHT, False, folder)
    rows = []
    try:
        for number in range(rounds):
            for who in contestants(bin_dir):
                quota = Quota((os.cpu_count() or 2) / 2)
                who.group = quota.path
                name = "effort-" + who.name.replace(", ", "-") + f"-{number}"
                try:
                    row = quality.measure(nginx, audio, source, who, KBPS, folder, name)
                finally:
                    quota.remove()
                rows.append(row)
                say(f"effort {who.name}: {row.get('left_out')} of {clip.frames} frames left out, "
                    f"{row.get('psnr', 0):.2f} dB, {row['cpu']:.2f} s {row['note'][:200]}")
    finally:
        source.remove()
    return rows


def text(rows):
    lines = []
    for who in dict.fromkeys(row["who"] for row in rows):
        runs = [row for row in rows if row["who"] == who and "psnr" in row]
        if runs:
            lines.append([
                who, f"{report.median([run['left_out'] * 100 / run['frames'] for run in runs]):.1f} %",
                f"{report.median([run['psnr'] for run in runs]):.2f}",
                f"{report.median([run['ssim'] for run in runs]):.2f}",
                f"{report.median([run['cpu'] * 1000 / run['frames'] for run in runs]):.2f}"])
    return report.table(
        [f"half the processor, {WIDTH}x{HEIGHT} at {RATE}", "left out", "PSNR dB, as shown", "SSIM dB", "CPU ms/frame"],
        lines)
