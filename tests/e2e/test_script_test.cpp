// scripts/test itself: a test that fails ends it with an error, whatever a second try would have
// given. And scripts/bench: what it makes of the figures that benchmarks print.
#include <fstream>

#include "base/file.h"
#include "base/text.h"
#include "tests/e2e/site.h"
#include "tests/support/captures.h"

namespace cupel::testing {
namespace {

/// A build folder with one test, as CMake would leave it, and what scripts/test says of it.
struct OneTest {
  explicit OneTest(const std::string& script) {
    const auto build = folder.path() / "build" / "some";
    std::filesystem::create_directories(build);
    std::ofstream{build / "CTestTestfile.cmake"}
        << "add_test([=[Some.Test]=] /bin/sh -c [=[runs=" << runs_file() << "; echo run >> $runs; "
        << script << "]=])\nset_tests_properties(Some.Test PROPERTIES LABELS whole)\n";
  }

  std::string runs_file() const { return (folder.path() / "runs").string(); }

  std::ptrdiff_t runs() const {
    std::ifstream file{runs_file()};
    return std::count(std::istreambuf_iterator<char>{file}, {}, '\n');
  }

  /// `words` after what scripts/test begins with.
  Ran parts(const std::string& words) const {
    return run({"/bin/bash", "-c",
                "set -euo pipefail; . " SOURCE_DIR "/scripts/setup.sh; . " SOURCE_DIR
                "/scripts/test_parts.sh; root=" +
                    folder.path().string() + "; trap print_parts EXIT; " + words},
               {}, std::chrono::seconds{60});
  }

  test::TemporaryFolder folder{};
};

TEST(TestScript, FailsWhereATestFails) {
  const OneTest test{"exit 1"};

  const auto ran = test.parts("part 'the tests' run_tests some; echo went on");

  EXPECT_NE(ran.status, 0);
  EXPECT_THAT(ran.out, Not(HasSubstr("went on")));
  EXPECT_THAT(ran.err, HasSubstr("failed in: the tests"));
}

TEST(TestScript, EndsWithWhatFailedAndWhere) {
  const OneTest test{
      "printf '%s\\n' 'some.cpp:7: Failure' 'Value of: x' '[  FAILED  ] Some.Test (3 ms)'; exit 1"};

  const auto ran = test.parts("part 'the tests' run_tests some");

  EXPECT_THAT(ran.out, ::testing::ContainsRegex("== what failed [^\n]*\nsome.cpp:7: Failure\n"
                                                "Value of: x\n.  FAILED  . Some.Test"));
}

TEST(TestScript, FailsWhereATestPassesTheSecondTime) {
  const OneTest test{"test $(wc -l < $runs) = 2"};

  const auto ran = test.parts("part 'the tests' run_tests some");

  EXPECT_NE(ran.status, 0);
  EXPECT_EQ(test.runs(), 1);
}

TEST(TestScript, PassesWhereAllTestsPassAndSaysWhatTheyTook) {
  const OneTest test{"exit 0"};

  const auto ran = test.parts("part 'the tests' run_tests some; part more true");

  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, ::testing::ContainsRegex("the tests +[0-9]+ s +[0-9]+ s of CPU\nmore "));
  EXPECT_THAT(ran.out,
              ::testing::ContainsRegex("of label whole .some. +[0-9]+ s of processes, 1 t"));
}

TEST(TestScript, FailsWhereNoTestIsThere) {
  const OneTest test{"exit 0"};

  EXPECT_NE(test.parts("run_tests some -R Absent").status, 0);
}

TEST(TestScript, FailsWhereWhatRanBesideFails) {
  const OneTest test{"exit 0"};

  const auto ran = test.parts(
      "fails() { echo why; return 3; }; beside slow fails; part 'the tests' run_tests some; "
      "join slow; echo went on");

  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("why"), Not(HasSubstr("went on"))));
  EXPECT_THAT(ran.err, HasSubstr("failed in: slow"));
}

TEST(TestScript, RefusesABuildThatHasGrown) {
  const OneTest test{"exit 0"};
  const std::string setup =
      "mkdir -p $root/tests; truncate -s 106MB $root/build/some/one.o; echo 'clang++ -o one.o -c "
      "x' "
      "> $root/build/some/compile_commands.json; echo 'some 100' > $root/tests/object-size; ";

  const auto grown = test.parts(setup + "check_object_size some");
  const auto same =
      test.parts(setup + "echo 'some 111' > $root/tests/object-size; " + "check_object_size some");

  EXPECT_NE(grown.status, 0);
  EXPECT_THAT(grown.err, HasSubstr("more than 5 % over the 100 MB"));
  EXPECT_EQ(same.status, 0) << same.err;
}

// A repository in place of the tree, with one commit; what is proven is reported in it.
constexpr const char* kRepository =
    "git init -q $root; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a "
    "GIT_COMMITTER_EMAIL=a; commit() { git -C $root add $1 && git -C $root commit -qm x; }; "
    "echo /build > $root/.gitignore; echo /runs >> $root/.gitignore; mkdir -p $root/tests "
    "$root/base; echo 1 > $root/base/a; commit .; all=; ";
constexpr const char* kProve = "all=--all; remember_proven machines; all=; commit tests; ";

TEST(TestScript, WhatPassedIsDueAgainWhereItsFilesHaveChanged) {
  const OneTest test{"exit 0"};
  const std::string due = "is_due machines base && echo due; true";

  const auto never = test.parts(std::string{kRepository} + due);
  const OneTest proven{"exit 0"};
  const auto since = proven.parts(std::string{kRepository} + kProve + due);
  const OneTest changed{"exit 0"};
  const auto after =
      changed.parts(std::string{kRepository} + kProve + "echo 2 > $root/base/a; " + due);
  const OneTest other{"exit 0"};
  const auto of_other =
      other.parts(std::string{kRepository} + kProve + "is_due aarch64 base && echo due; true");
  const OneTest without{"exit 0"};
  const auto left_out = without.parts(std::string{kRepository} + kProve +
                                      "mkdir $root/base/out; echo 2 > $root/base/out/b; "
                                      "is_due machines base ':!base/out' && echo due; true");

  EXPECT_THAT(never.out, HasSubstr("due\n"));
  EXPECT_THAT(since.out, AllOf(HasSubstr("machines: not due, since nothing in base has changed"),
                               Not(HasSubstr("\ndue\n"))));
  EXPECT_THAT(after.out, HasSubstr("\ndue\n"));
  EXPECT_THAT(left_out.out, Not(HasSubstr("\ndue\n")));
  EXPECT_THAT(of_other.out, HasSubstr("\ndue\n")) << "one part proves nothing of another";
}

TEST(TestScript, NothingIsProvenByATreeWithUncommittedChanges) {
  const OneTest test{"exit 0"};

  const auto ran = test.parts(std::string{kRepository} +
                              "echo 2 > $root/base/a; all=--all; remember_proven machines; "
                              "test ! -e $root/tests/proven && echo none");

  EXPECT_THAT(ran.out, AllOf(HasSubstr("uncommitted changes"), HasSubstr("none\n")));
}

TEST(TestScript, RefusesAPartThatItDoesNotHave) {
  const OneTest test{"exit 0"};

  const auto ran = test.parts("choose_parts machines masheens");

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("no part masheens. It has: aarch64 debian13 demo fuzz machines"));
}

TEST(TestScript, BeginsWithTheTestsThatTakeMinutes) {
  const auto listed =
      run({"ctest", "--test-dir", BUILD_DIR, "--show-only=json-v1", "-R",
           "^(OsRun[.]|burn_test[.]|burnin_test[.]|Page[.]InABrowser|e2e_test[.]Commands/Either)"});
  const auto begin = listed.out.find('{');
  ASSERT_NE(begin, listed.out.npos) << listed.err;
  const auto listing = parse_json(listed.out.substr(begin));
  ASSERT_TRUE(listing) << listing.error().what;

  for (const auto& test : find(*listing, "tests")->as_array()) {
    double seconds = 0;
    for (const auto& property : find(test, "properties")->as_array())
      if (text_at(property, "name") == "COST")
        seconds = find(property, "value")->to_number<double>();
    EXPECT_GT(seconds, 100) << *text_at(test, "name")
                            << ": ctest begins it last where it does not know its time";
  }
}

TEST(TestScript, DetectsUseAfterReturnOnRequest) {
  const OneTest test{"exit 0"};

  const auto ran = test.parts("asan_options 0; asan_options 1");

  EXPECT_THAT(ran.out, AllOf(HasSubstr("detect_stack_use_after_return=0:quarantine"),
                             HasSubstr("detect_stack_use_after_return=1:quarantine")));
}

TEST(TestScript, NamesTheLibrariesOfTheDebianThatItRunsOn) {
  const auto ran =
      run({"/bin/bash", "-c",
           ". " SOURCE_DIR "/scripts/setup.sh; printf '%s\\n' \"${build_packages[@]}\" | "
           "grep boost | xargs dpkg-query -W -f='${db:Status-Status}\\n' | sort | uniq -c"});

  EXPECT_EQ(words(ran.out), (std::vector<std::string_view>{"3", "installed"})) << ran.err;
}

TEST(TestScript, FindsTheTargetOfATestByItsName) {
  const auto ran = run({"/bin/bash", "-c",
                        ". " SOURCE_DIR "/scripts/setup.sh; . " SOURCE_DIR
                        "/scripts/test_parts.sh; targets_of_tests '^TestScript.Finds'"});

  EXPECT_EQ(ran.out, "e2e_test\n");
}

/// A folder with stand-ins for benchmarks, each of them the words of a shell.
class BenchScript : public ::testing::Test {
 protected:
  void benchmark(const std::string& name, const std::string& words) const {
    const auto path = folder_.path() / name;
    std::ofstream{path} << "#!/bin/sh\n" << words << "\n";
    std::error_code failed;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all, failed);
    EXPECT_FALSE(failed) << failed.message();
  }

  Ran bench(std::vector<std::string> words, std::vector<std::string> environment = {}) const {
    words.insert(words.begin(),
                 {SOURCE_DIR "/scripts/bench", "--programs", folder_.path().string()});
    return run(std::move(words), std::move(environment), std::chrono::seconds{60});
  }

  std::string file(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  const test::TemporaryFolder folder_{};
};

constexpr const char* kThreeRounds =
    "n=$(cat $0.n 2> /dev/null); echo 1$n > $0.n; case $n in '') v=96;; 1) v=90;; *) v=92;; esac; "
    "echo noise; echo \"beside|power status|curl|us a BMC|$v|100|<= 0.7\"; "
    "echo \"beside|on kept connections|curl|us a BMC|10|100|<= 0.7\"";

TEST_F(BenchScript, PrintsMediansTheSpreadOfTheRatioAndWhatIsMissed) {
  benchmark("redfish_bench", kThreeRounds);
  benchmark("store_bench", "echo 'beside|journal|SQLite|events/s|3|0|'");

  const auto ran = bench({"redfish", "journal"});

  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("| redfish | power status | curl | us a BMC | 92 | 100 | 0.92 | "
                              "0.90 to 0.96 | <= 0.7: **missed** |\n"),
                    HasSubstr("| redfish | on kept connections | curl | us a BMC | 10 | 100 | "
                              "0.10 | 0.10 to 0.10 | <= 0.7 |\n"),
                    HasSubstr("| journal | journal | SQLite | events/s | 3 | 0 | - | - |  |\n")));
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\nMachine: "), HasSubstr("Versions: "), HasSubstr("curl "),
                             Not(HasSubstr("Not measured"))));
}

TEST_F(BenchScript, SaysWhatWasNotMeasuredAndWhy) {
  benchmark("sweep_bench", "echo 'no capture in /shared' >&2; exit 1");
  benchmark("store_bench", "echo no figures");
  benchmark("redfish_bench", kThreeRounds);

  const auto ran = bench({"redfish", "sweep", "journal"});

  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("- sweep: sweep_bench ended with exit status 1: no capture in "
                              "/shared\n"),
                    HasSubstr("- journal: store_bench printed no figure beside a peer"),
                    HasSubstr("| redfish | power status |")));
}

TEST_F(BenchScript, NamesAPeerThatIsNotInstalled) {
  const auto made = run({"/bin/sh", "-ec",
                         "mkdir " + file("bin") + "; ln -s /usr/bin/* " + file("bin") + "; rm -f " +
                             file("bin") + "/pdsh"});
  ASSERT_EQ(made.status, 0) << made.err;

  const auto ran = bench({"ssh"}, {"PATH=" + file("bin")});

  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.out, HasSubstr("- ssh: a peer is not installed: apt-get install"));
  EXPECT_THAT(ran.out, HasSubstr("pdsh"));
}

TEST_F(BenchScript, WritesTheTableBetweenTheMarkersOfAPage) {
  benchmark("redfish_bench", kThreeRounds);
  std::ofstream{file("page")} << "before\n<!-- scripts/bench: begin -->\nformer\n"
                                 "<!-- scripts/bench: end -->\nafter\n";

  const auto ran = bench({"--rounds", "1", "--write", file("page"), "redfish"});

  EXPECT_EQ(ran.status, 0) << ran.err;
  const auto page = read_file(file("page"), 1U << 20U).value_or("");
  EXPECT_TRUE(page.starts_with("before\n<!-- scripts/bench: begin -->\n\n")) << page;
  EXPECT_THAT(page, AllOf(HasSubstr("| 96 | 100 | 0.96 |"), Not(HasSubstr("former"))));
  EXPECT_TRUE(page.ends_with("|\n\n<!-- scripts/bench: end -->\nafter\n")) << page;
}

TEST_F(BenchScript, RefusesWhatItDoesNotHave) {
  EXPECT_THAT(bench({"redfsh"}).err, HasSubstr("no benchmark redfsh: scripts/bench --list"));
  EXPECT_EQ(bench({"redfsh"}).status, 64);
  EXPECT_THAT(bench({"--write", SOURCE_DIR "/README.md", "redfish"}).err,
              HasSubstr("has no line <!-- scripts/bench: begin -->"));
}

TEST(BenchScripts, RunEachBenchmarkThatPrintsAFigureBesideAPeer) {
  const auto ran =
      run({"/bin/sh", "-ec",
           "cd " SOURCE_DIR
           "; have=$(grep -lE 'print_beside|beside[|]' tests/bench/*_bench* | sed 's/.*\\///; "
           "s/[.]cpp$//' | sort); run=$(scripts/bench --list | awk '{print $2}' | sort); "
           "echo \"$have\" / \"$run\"; [ \"$have\" ] && [ \"$have\" = \"$run\" ]"});

  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
}

}  // namespace
}  // namespace cupel::testing
