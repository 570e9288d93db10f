"""What scripts/bench computes, on curves and recordings whose answers are known. scripts/test runs it; needs ffmpeg."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checks  # noqa: E402
import clips  # noqa: E402
import contenders  # noqa: E402
import frontier  # noqa: E402
import latency  # noqa: E402
import quality  # noqa: E402
import scenes  # noqa: E402
import screen  # noqa: E402
import stage  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


class Rates(unittest.TestCase):
    # The example that implementations of BD-rate carry, and what numpy's polyfit says of it.
    base = [(686.76, 40.28), (309.58, 37.18), (157.11, 34.24), (85.95, 31.42)]
    other = [(893.34, 40.39), (407.8, 37.21), (204.93, 34.17), (112.75, 31.24)]

    def test_the_known_example(self):
        self.assertAlmostEqual(quality.bd_rate(self.base, self.other), 31.3974, places=2)

    def test_the_order_of_points_is_nothing(self):
        self.assertAlmostEqual(quality.bd_rate(self.base[::-1], self.other), quality.bd_rate(self.base, self.other))

    def test_a_tenth_more_bits_everywhere(self):
        dearer = [(rate * 1.1, value) for rate, value in self.base]
        for measure in (quality.bd_rate, quality.bd_rate_between):
            self.assertAlmostEqual(measure(self.base, dearer), 10)
            self.assertAlmostEqual(measure(dearer, self.base), 100 / 1.1 - 100)

    def test_only_the_overlap_counts(self):
        # Of a straight line any part has the same distance to the next, wherever the points are.
        line = [(2 ** (value / 3), value) for value in (30, 34, 38, 42)]
        later = [(2 ** (value / 3) * 1.25, value) for value in (33, 37, 41, 45)]
        self.assertAlmostEqual(quality.bd_rate(line, later), 25)
        self.assertAlmostEqual(quality.bd_rate_between(line, later), 25)

    def test_five_points(self):
        line = [(2 ** (value / 3), value) for value in (30, 33, 36, 39, 42)]
        self.assertAlmostEqual(quality.bd_rate(line, [(rate * 1.5, value) for rate, value in line]), 50)

    def assert_meaningless(self, base, other, words):
        with self.assertRaisesRegex(quality.Meaningless, words):
            quality.bd_rate(base, other)

    def test_what_says_nothing_is_no_number(self):
        far = [(rate, value + 20) for rate, value in self.base]
        self.assert_meaningless(self.base, far, "overlap")
        self.assert_meaningless(self.base, [(1, 30), (2, 33), (3, 32.9), (4, 36)], "no more quality")
        self.assert_meaningless(self.base, self.other[:3], "four points")
        self.assert_meaningless(self.base, [(1, float("inf"))] + self.other, "four points")

    def test_a_cubic_that_falls_is_told_from_lines(self):
        # Flat, a leap, flat again: a cubic through it turns around.
        leap = [(100, 30), (110, 39), (1000, 39.5), (1100, 41)]
        self.assert_meaningless(self.base, leap, "no smooth curve")
        rows = [{"clip": "c", "who": who, "asked": rate, "kbps": rate, "psnr": value}
                for who, curve in (("ffmpeg", self.base), ("upcast", leap)) for rate, value in curve]
        found = quality.rates_of(rows, "c", "upcast")["psnr"]
        self.assertIsInstance(found, quality.Rough)
        self.assertTrue(quality.percent(found).startswith("~"))


class Frontier(unittest.TestCase):
    def test_the_base_comes_between(self):
        order = frontier._order(["base", *"abcdef"])
        self.assertEqual(order, ["base", "a", "b", "c", "d", "base", "e", "f", "base"])
        # A machine that slows down from 1 to 3 to 4: the base beside a to d is the mean of 1 and 3.
        beside = list(frontier._beside_base(order, [1, 5, 6, 7, 8, 3, 9, 10, 4]))
        self.assertEqual(beside[0], ("a", 5, 2))
        self.assertEqual(beside[-1], ("f", 10, 3.5))

    def test_what_costs_more_and_gives_less_is_beaten(self):
        def row(name, clip, ratio, psnr, ssim):
            return {"name": name, "clip": clip, "ratio": ratio, "psnr": psnr, "ssim": ssim, "peak": 1, "settings": ""}

        rows = [row("base", "a", 1, 0, 0), row("base", "b", 1, 0, 0), row("fast", "a", 0.5, 4, 6), row("fast", "b", 0.7, 8, 2),
                row("slow", "a", 1.2, 1, None), row("slow", "b", 1.2, 3, 0.5)]
        found = {point["name"]: point for point in frontier.points(rows)}
        self.assertEqual(found["slow"]["beaten"], "base")
        self.assertEqual((found["fast"]["beaten"], found["base"]["beaten"]), ("", ""))
        self.assertAlmostEqual(found["fast"]["loss"], 6)
        self.assertEqual((found["fast"]["worst"], found["fast"]["worst_clip"]), (8, "b"))
        self.assertAlmostEqual(found["slow"]["ssim"], 0.5)

    def test_unknown_settings_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "card.y4m")
            subprocess.run(
                ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=160x128:r=30", "-frames:v", "8", "-pix_fmt",
                 "yuv420p", path], check=True, stdin=subprocess.DEVNULL)
            clip = frontier.Clip("card", path, (100,))
            with self.assertRaisesRegex(RuntimeError, "subm"):
                frontier.encode(clip, 100, "subm=1", path + ".h264")
            for settings in frontier.SETTINGS.values():
                frontier.encode(clip, 100, settings, path + ".h264")
            fine, coarse = (
                frontier.encode(clip, kbps, "", path + ".h264") and frontier.compare(path + ".h264", clip)
                for kbps in (2000, 100))
            self.assertGreater(fine[0], coarse[0])
            self.assertGreater(fine[1], coarse[1])


class Efforts(unittest.TestCase):
    def test_what_is_measured_is_what_is_shipped(self):
        with open(HERE + "/../../../Sources/Encoding/X264/X264Effort.swift") as file:
            source = file.read()
        common = source.split("private static let common =")[1].split('"')[1]
        for name in ("low", "normal", "high"):
            own = re.search(rf'case \.{name}: common(?: \+ "(.*)")?\n', source).group(1) or ""
            self.assertEqual(frontier.SETTINGS[name], common + own)
        high, others = re.search(r'effort == \.high \? "(.*)" : "(.*)"\n', source).groups()
        self.assertEqual(frontier.SETTINGS["high without planes"], frontier.SETTINGS["high"] + ":" + high)
        self.assertEqual(frontier.SETTINGS["without planes"], frontier.SETTINGS["normal"] + ":" + others)


class Times(unittest.TestCase):
    def test_whole_milliseconds(self):
        self.assertEqual(quality.slots([0, 33, 67, 100, 133], 30), [0, 1, 2, 3, 4])

    def test_half_a_frame_late_and_one_left_out(self):
        self.assertEqual(quality.slots([16, 50, 83, 117, 150, 217, 250], 30), [0, 1, 2, 3, 4, 6, 7])

    def test_times_that_were_moved_forward(self):
        self.assertEqual(quality.slots([0, 40, 128, 128, 160], 25), [0, 1, 2, 3, 4])

    def test_a_stream_that_begins_late(self):
        self.assertEqual(quality.slots([5000, 5040, 5120], 25), [0, 1, 3])


class Options(unittest.TestCase):
    def test_settings_of_upcast(self):
        self.assertEqual(
            quality.option("a b:threads=1,memory.cap_bytes=70000000"),
            ("a b", {"video": {"threads": "1"}, "memory": {"cap_bytes": "70000000"}}))
        self.assertEqual(
            quality.option("p:options.x264-params=subme=1:partitions=i8x8,i4x4,vbv_ms=500"),
            ("p", {"video": {"encoder_options": '{"x264-params": "subme=1:partitions=i8x8,i4x4"}', "vbv_ms": "500"}}))
        for wrong in ("a", "a:", ":threads=1", "a:threads", "a:threads="):
            with self.assertRaises(ValueError):
                quality.option(wrong)

    def status(self, *options):
        return subprocess.run(
            [sys.executable, HERE, "--bin-dir", "none", "--check-options", *options], capture_output=True,
            stdin=subprocess.DEVNULL).returncode

    def test_wrong_ones_are_refused_before_anything_is_built(self):
        self.assertEqual(self.status("--only", "quality", "--clips", "film,text", "--upcast", "a:threads=1"), 0)
        for wrong in (["--clips", "nothing"], ["--kbps", "1,2,3"], ["--kbps", "1,1,2,3"], ["--upcast", "a"],
                      ["--upcast", "ffmpeg:threads=1"], ["--film", "/nowhere"], ["--rounds", "0"]):
            self.assertEqual(self.status(*wrong), 64, wrong)


class Clips(unittest.TestCase):
    def test_what_cannot_be_made_says_why(self):
        with tempfile.TemporaryDirectory(prefix="upcast-bench-test-") as folder, \
                unittest.mock.patch.object(clips, "PHOTOGRAPHS", "/nowhere"):
            with self.assertRaisesRegex(clips.Missing, "/nowhere/.*mate-backgrounds"):
                clips.make("pan", folder)

    def test_every_clip_has_bitrates_for_a_curve(self):
        for name in clips.NAMES:
            self.assertGreaterEqual(len(set(clips.RATES[name])), 4, name)
            self.assertIn(name, clips._SOURCES)


class Recordings(unittest.TestCase):
    """Recordings of the test card, as a server would have them."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="upcast-bench-test-")
        path = cls.folder.name
        card = clips.make("card", path, 320, 180, 2)
        cls.source = quality.Source(card, 320, 180, False, path)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def shown(self, filters, crf=10, source=None):
        """(PSNR, frames left out, shift) of the card, or another source, after these filters."""
        source = source or self.source
        path = os.path.join(self.folder.name, "recording.flv")
        subprocess.run(
            ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "nv12", "-s", "320x180", "-r", "30", "-i",
             source.clip.path, "-vf", filters, "-c:v", "libx264", "-crf", str(crf), "-tune", "zerolatency",
             "-pix_fmt", "yuv420p", "-fps_mode", "passthrough", path], check=True, stdin=subprocess.DEVNULL)
        shown = quality.Shown(path, source)
        measures = shown.measures()
        self.came = measures["psnr_came"]
        found = measures["psnr"], len(shown.left_out()), shown.shift
        shown.remove()
        return found

    def test_all_frames(self):
        good, left_out, shift = self.shown("null")
        self.assertEqual((left_out, shift), (0, 0))
        self.assertGreater(good, 45)
        worse, _, _ = self.shown("null", crf=35)
        self.assertLess(worse, good - 10)

    def test_a_recording_that_is_later(self):
        good, _, _ = self.shown("null")
        later, left_out, shift = self.shown("setpts=PTS+2/30/TB")
        self.assertEqual((left_out, shift), (0, 2))
        self.assertAlmostEqual(later, good, places=1)

    def test_a_frame_that_is_left_out_counts_as_the_one_before(self):
        good, _, _ = self.shown("null")
        fewer, left_out, shift = self.shown("select='not(eq(n,20)+eq(n,21)+eq(n,40))'")
        self.assertEqual((left_out, shift), (3, 0))
        self.assertLess(fewer, good - 3)
        # What came is as good as ever.
        self.assertAlmostEqual(self.came, good, delta=0.5)

    def test_a_picture_that_stands_may_be_left_out(self):
        path = os.path.join(self.folder.name, "standing.nv12")
        frame = 320 * 180 * 3 // 2
        with open(self.source.clip.path, "rb") as file, open(path, "wb") as out:
            out.write(file.read(frame) * 60)
        standing = quality.Source(clips.Clip("standing", path, 320, 180, 30, 60), 320, 180, False, self.folder.name)
        self.assertEqual(sum(standing.moved), 1)
        self.assertEqual(self.shown("select='not(mod(n,4))'", source=standing)[1], 0)
        self.assertEqual(self.shown("select='not(mod(n,2))'")[1], 25)

    def test_bytes_are_those_of_the_pictures(self):
        self.shown("null")
        path = os.path.join(self.folder.name, "recording.flv")
        kinds = [kind for kind, _, _ in checks.flv(path)]
        self.assertEqual(kinds, ["video"] * 60)


def _with_numpy(program):
    """Runs lines under a Python that has numpy, in the bench's folder; what they print."""
    return subprocess.run(
        ["/usr/bin/python3", "-c", program], cwd=HERE, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}).stdout


class Captured(unittest.TestCase):
    """What the part `screen` computes."""

    def test_each_frame_is_paired_with_the_drawn_one(self):
        # The second is seen twice, the fourth not at all; the last but one looks like the first, which has gone.
        out = _with_numpy(
            "import drawn, numpy as np\n"
            "cost = np.abs(np.array([0, 2, 2.1, 5, 8.9, 0.4])[:, None] - np.array([0, 2, 5, 7, 9, 0])[None])\n"
            "print(drawn.pair(cost), drawn.pair(np.zeros((3, 4))))")
        self.assertEqual(out.split("\n")[0], "[0, 1, 1, 2, 4, 5] [0, 0, 0]")

    def test_measures_are_those_of_ffmpeg(self):
        with tempfile.TemporaryDirectory(prefix="upcast-bench-test-") as folder:
            width, height, size = 320, 180, ["-f", "rawvideo", "-pix_fmt", "nv12", "-s", "320x180"]
            card, coarse = f"{folder}/card.nv12", f"{folder}/coarse.nv12"
            subprocess.run(
                ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s={width}x{height}:r=30", "-frames:v", "8",
                 "-pix_fmt", "nv12", "-f", "rawvideo", card], check=True, stdin=subprocess.DEVNULL)
            soft = f"{folder}/soft.nv12"
            subprocess.run(
                ["ffmpeg", "-v", "error", *size, "-i", card, "-vf", "boxblur", "-f", "rawvideo", soft],
                check=True, stdin=subprocess.DEVNULL)
            # Every second frame is seen.
            subprocess.run(
                ["ffmpeg", "-v", "error", *size, "-i", card, "-vf", "select='mod(n,2)',noise=alls=20,setpts=N", "-fps_mode",
                 "passthrough", "-f", "rawvideo", coarse], check=True, stdin=subprocess.DEVNULL)
            shown = json.loads(subprocess.check_output(
                ["/usr/bin/python3", HERE + "/drawn.py", coarse, str(width), str(height), str(list(range(8))), soft,
                 card], text=True))
            words = subprocess.run(
                ["ffmpeg", *size, "-i", coarse, *size, "-i", card, "-filter_complex",
                 "[1:v]select='mod(n,2)',setpts=N[s];[0:v]setpts=N,split[a][b];[s]split[c][d];[a][c]psnr[e];[b][d]ssim[f]",
                 "-map", "[e]", "-map", "[f]", "-f", "null", "-"],
                capture_output=True, text=True, stdin=subprocess.DEVNULL).stderr
        self.assertAlmostEqual(shown["psnr"], float(re.search(r"PSNR.*average:([0-9.]+)", words).group(1)), delta=0.01)
        self.assertAlmostEqual(shown["ssim"], float(re.search(r"SSIM.*All:([0-9.]+)", words).group(1)), delta=0.0005)
        self.assertEqual((shown["changed"], shown["shown"]), (7, 4))
        self.assertLess(shown["whole_psnr"], shown["psnr"] - 3)
        self.assertLess(shown["whole_ssim"], shown["ssim"])

    def test_a_flash_is_the_first_frame_that_shows_it(self):
        # The second flash comes after the third was drawn, the fourth never; None is on the way from one to the next.
        arrivals, shown = [0.9, 1.03, 1.06, 3.1, 3.2, 3.3, 4.5], [7, None, 0, 1, 1, 2, 2]
        found = screen.seen([1, 2, 3, 4], arrivals, shown)
        self.assertEqual([value and round(value) for value in found], [60, 1100, 300, None])
        # What looks like a flash that is drawn later was another, seven before.
        self.assertEqual(screen.seen(list(range(9)), [0.5], [1])[1], None)
        lumas = [round(16 + value * 219 / 255) for value in stage.FLASHES]
        self.assertEqual([screen.grey(luma) for luma in lumas], list(range(len(lumas))))
        self.assertIsNone(screen.grey(lumas[0] + 12))

    def test_processor_time_of_another_process(self):
        with tempfile.TemporaryDirectory() as folder:
            child = contenders.Process(["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; read _"],
                                       folder + "/log", stdin=subprocess.PIPE)
            while (before := screen.spent(child)) < 0.02:
                pass
            self.assertLess(before, 5)
            self.assertGreater(screen.memory(child)["peak"], 100_000)
            child.child.stdin.close()
            _, told = child.wait(20)
        self.assertGreaterEqual(told, before - 0.02)

    def test_the_better_rival_of_each_round_counts(self):
        def row(who, number, value):
            return {"scene": "still", "who": who, "round": number, "cpu": {"client": value / 2, "daemon": value / 2}}

        rows = [row("upcast", 0, 1), row("ffmpeg", 0, 4), row("gstreamer, damage", 0, 5), row("upcast", 1, 1),
                row("ffmpeg", 1, 4), row("gstreamer, damage", 1, 2), row("upcast", 2, 1), row("ffmpeg", 2, 10)]
        self.assertEqual(screen.beside({"screen": rows}, "still"), ([0.25, 0.5, 0.1], "ffmpeg"))

    def test_who_leaves_frames_out_does_less(self):
        def row(who, scene, frames):
            return {"who": who, "scene": scene, "seconds": 10, "frames": frames, "cpu": {"client": 1}}

        self.assertEqual(screen.complete(row("ffmpeg", "still", 150)), 2)
        self.assertEqual(screen.complete(row("ffmpeg", "typed", 300)), 1)
        self.assertEqual(screen.complete(row("upcast", "scroll", 200)), 1.5)
        self.assertEqual(screen.complete(row("upcast", "typed", 50)), 2)
        self.assertEqual(screen.complete(row("upcast", "still", 0)), 1)

    def test_the_order_of_tracks(self):
        self.assertEqual(latency.out_of_order([]), 0)
        self.assertEqual(latency.out_of_order([(9, 0), (8, 0), (8, 21), (9, 33), (8, 43)]), 0)
        # A track by itself goes on.
        self.assertEqual(latency.out_of_order([(9, 0), (9, 33), (8, 0), (8, 21), (9, 66), (8, 43)]), 33)

    def test_pictures_count_up(self):
        for scene in scenes.SCENES.values():
            known = 0
            for number in scenes.order(scene, 300):
                self.assertLessEqual(number, known, scene.name)
                known = max(known, number + 1)
        film = [stage.picture_of("video", index, 3) for index in range(8)]
        self.assertEqual(film, [0, 1, 2, 1, 0, 1, 2, 1])

    def test_letters_stay_in_the_terminal(self):
        longest = max(scene.source[1] for scene in scenes.SCENES.values())
        self.assertEqual(longest % 1080, 0)
        letters = 60 * scenes.RATE // stage.FRAMES_A_LETTER
        for letter in (0, stage.COLUMNS - 1, letters):
            x, y = stage._cell(letter)
            self.assertLessEqual(x + stage.CELL_WIDTH, stage.TERMINAL[0] + stage.COLUMNS * stage.CELL_WIDTH)
            self.assertLessEqual(y + stage.CELL_HEIGHT, stage.TERMINAL[1] + stage.ROWS * stage.CELL_HEIGHT)


class Environment(unittest.TestCase):
    def test_no_key_of_the_caller_reaches_a_contender(self):
        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.dict(os.environ, {"UPCAST_BENCH": "1", "UNRELATED": "stays"}):
            log = os.path.join(folder, "log")
            child = contenders.Process(["env"], log)
            child.child.wait()
            child._watching = False
            with open(log) as file:
                names = [line.split("=", 1)[0] for line in file]
        self.assertIn("UNRELATED", names)
        self.assertEqual([name for name in names if name.startswith("UPCAST_")], [])


if __name__ == "__main__":
    unittest.main()
