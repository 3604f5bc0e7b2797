"""What scripts/version.sh says of trees that this test makes."""
import os
import shutil
import sys
import unittest

import places

ENVIRONMENT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b.c",
    "GIT_AUTHOR_DATE": "2024-02-29T12:00:00+0100", "GIT_COMMITTER_DATE": "2024-02-29T12:00:00+0100",
}


class VersionTest(unittest.TestCase):
    def setUp(self):
        self.tree = places.scratch("version") / "tree"
        shutil.rmtree(self.tree, ignore_errors=True)
        (self.tree / "scripts").mkdir(parents=True)
        shutil.copy(places.SOURCE / "scripts" / "version.sh", self.tree / "scripts")
        (self.tree / "CMakeLists.txt").write_text("project(karmada_cpp LANGUAGES CXX VERSION 0.3.0)\n")

    def git(self, *words):
        return places.run("git", "-C", self.tree, *words, env=ENVIRONMENT).stdout.strip()

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")

    def facts(self):
        lines = places.run(self.tree / "scripts" / "version.sh", "all", env=ENVIRONMENT).stdout.splitlines()
        return dict(line.split("=", 1) for line in lines)

    def start(self):
        self.git("init", "-q")
        self.commit()

    def test_before_the_first_tag_it_comes_before_the_version_of_the_tree(self):
        self.start()
        self.commit()
        facts = self.facts()
        short = self.git("rev-parse", "HEAD")[:9]
        self.assertEqual(facts["version"], f"v0.3.0-dev.2.g{short}")
        self.assertEqual(facts["semver"], f"0.3.0-dev.2.g{short}")
        self.assertEqual(facts["debian"], f"0.3.0~dev.2.g{short}")
        self.assertEqual(facts["commit"], self.git("rev-parse", "HEAD"))
        self.assertEqual((facts["tree"], facts["date"], facts["epoch"]), ("clean", "2024-02-29T11:00:00Z", "1709204400"))

    def test_a_tag_is_the_version_and_commits_behind_it_are_counted(self):
        self.start()
        self.git("tag", "v0.3.0-rc.1")
        self.assertEqual((self.facts()["version"], self.facts()["debian"]), ("v0.3.0-rc.1", "0.3.0~rc.1"))
        self.commit()
        self.git("tag", "-a", "-m", "x", "v0.3.0")
        self.git("tag", "another-name")
        self.assertEqual((self.facts()["version"], self.facts()["debian"]), ("v0.3.0", "0.3.0"))
        self.commit()
        short = self.git("rev-parse", "HEAD")[:9]
        self.assertEqual(self.facts()["version"], f"v0.3.0-1-g{short}")
        self.assertEqual(self.facts()["debian"], f"0.3.0+1.g{short}")

    def test_a_change_of_what_git_knows_shows(self):
        self.start()
        (self.tree / "note").write_text("not known to git")
        self.assertEqual(self.facts()["tree"], "clean")
        (self.tree / "CMakeLists.txt").write_text("project(karmada_cpp LANGUAGES CXX VERSION 0.4.0)\n")
        self.assertEqual(self.facts()["tree"], "dirty")
        self.assertTrue(self.facts()["version"].endswith("-dirty"))

    def test_without_a_repository_of_its_own_it_is_that_of_the_tree(self):
        self.assertEqual(self.facts(), {"version": "v0.3.0", "semver": "0.3.0", "debian": "0.3.0", "commit": "",
                                        "tree": "", "date": "", "epoch": ""})

    def test_packages_of_a_tree_without_a_repository_have_a_maintainer_all_the_same(self):
        (self.tree / "packaging").mkdir()
        for folder in ("debian", "image"):
            shutil.copytree(places.SOURCE / "packaging" / folder, self.tree / "packaging" / folder)
        ask = ("import sys; sys.path.insert(0, sys.argv[1]); import build; "
               "print(build.maintainer(build.version()['commit']))")

        def maintainer(**more):
            words = [sys.executable, "-B", "-c", ask, self.tree / "packaging" / "debian"]
            return places.run(*words, env={**ENVIRONMENT, **more}).stdout.strip()

        self.assertEqual(maintainer(), "Unknown <unknown@localhost.invalid>")
        self.assertEqual(maintainer(MAINTAINER="m <m@n.o>"), "m <m@n.o>")
        self.start()
        self.assertEqual(maintainer(), "a <a@b.c>")

    def test_one_name_prints_one_value(self):
        self.start()
        script = self.tree / "scripts" / "version.sh"
        self.assertEqual(places.run(script, env=ENVIRONMENT).stdout, self.facts()["version"] + "\n")
        self.assertEqual(places.run(script, "commit", env=ENVIRONMENT).stdout, self.facts()["commit"] + "\n")
        wrong = places.run(script, "comit", env=ENVIRONMENT, check=False)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("comit", wrong.stderr)


if __name__ == "__main__":
    unittest.main()
