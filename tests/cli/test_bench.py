"""esra bench: every kernel on every path of this machine, told as text and as JSON. No time is judged."""
import json
import unittest

from cli import CliTest


class Bench(CliTest):
    def test_text_and_json_name_the_same(self):
        told = json.loads(self.expect(0, "bench", "kernels", "--json").stdout)
        self.assertEqual(list(told), ["schema", "copy_gb_s", "photos", "width", "kernels"])
        self.assertEqual(told["schema"], "esra-bench-1")
        names = [kernel["kernel"] for kernel in told["kernels"]]
        self.assertEqual(len(set(names)), 13)
        for kernel in told["kernels"]:
            self.assertIn("c", kernel["ns_a_pixel"])
            self.assertTrue(all(ns > 0 for ns in kernel["ns_a_pixel"].values()))
            self.assertGreater(kernel["copying_ns_a_pixel"], 0)
        lines = self.expect(0, "bench", "kernels", stderr="").stdout.decode().splitlines()
        self.assertEqual([line.split()[0] for line in lines[3:]], names)
        self.assertEqual(lines[2].split()[3:], list(told["kernels"][0]["ns_a_pixel"]))

    def test_what_is_measured_must_be_said(self):
        for words in (), ("engines",):
            self.expect(64, "bench", *words, stdout="")


if __name__ == "__main__":
    unittest.main(verbosity=2)
