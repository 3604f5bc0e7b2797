"""Manual pages: complete, and without a warning of man."""
import gzip
import re
import unittest

import help_text
import places

PROGRAMS = {name: 8 for name in places.DAEMONS} | {name: 1 for name in places.TOOLS}


def page_of(name):
    return places.SOURCE / "build" / "man" / f"{name}.{PROGRAMS[name]}"


def shown(path):
    done = places.run("man", "--warnings=all", "--encoding=UTF-8", "--local-file", path,
                      env={"PATH": "/usr/bin:/bin", "MANWIDTH": "500", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""})
    return done.stdout, done.stderr


class PagesTest(unittest.TestCase):
    def test_man_shows_them_without_a_warning(self):
        for name in PROGRAMS:
            text, warnings = shown(page_of(name))
            self.assertEqual(warnings, "")
            for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"):
                self.assertRegex(text, rf"(?m)^{heading}$", name)

    def test_every_command_and_flag_is_in_them(self):
        for name in PROGRAMS:
            text = shown(page_of(name))[0]
            known = help_text.read_all(str(places.BIN / name))
            self.assertGreater(len(known), 1)
            for command in known:
                for term, _ in command.lists.get("Options", ()):
                    for flag in re.findall(r"--[a-z-]+", term.split(" ")[0]):
                        self.assertIn(flag, text)
                if command.command and not help_text.commands_of(command):
                    self.assertRegex(text, rf"(?m)^ +{' '.join(command.command)}$")

    def test_programs_name_only_pages_that_exist(self):
        for name in PROGRAMS:
            for other, section in re.findall(r"(karmada-[a-z-]+)\((\d)\)", shown(page_of(name))[0].split("SEE ALSO")[1]):
                self.assertEqual(PROGRAMS[other], int(section), f"{name} names {other}({section})")

    def test_packages_have_them_for_apropos(self):
        for name, section in PROGRAMS.items():
            (package,) = places.PACKAGES.glob(f"{name}_*.deb")
            place = places.scratch("pages") / name
            places.run("dpkg-deb", "--extract", package, place)
            path = place / "usr" / "share" / "man" / f"man{section}" / f"{name}.{section}.gz"
            self.assertEqual(gzip.decompress(path.read_bytes()), page_of(name).read_bytes())
            self.assertIn(f'"{name} - ', places.run("lexgrog", path).stdout)


class HelpTest(unittest.TestCase):
    """How help is read; the texts are of the shapes that CLI11 prints."""

    def test_both_columns_long_terms_and_further_lines(self):
        found = help_text.parse((), "Does things.\nUsage: it [OPTIONS]\n\nOptions:\n"
                                "  -h,--help                   Print help\n"
                                "  --live Excludes: --clusters --base\n"
                                "                              look at a server\n"
                                "  --gates PAIRS ...           Pairs:\n"
                                "                              A=true\n"
                                "  --none\n\nOthers:\n  --more N                    some more\n\n"
                                "Examples:\n  it --live\n\nA last word.\n")
        self.assertEqual(found.description, "Does things.")
        self.assertEqual(found.lists["Options"], [
            ("-h,--help", "Print help"), ("--live Excludes: --clusters --base", "look at a server"),
            ("--gates PAIRS ...", "Pairs:\nA=true"), ("--none", "")])
        self.assertEqual(found.lists["Others"], [("--more N", "some more")])
        self.assertEqual(found.rest, [("Examples", ["  it --live", "", "A last word."])])


if __name__ == "__main__":
    unittest.main()
