// BMCs that repeat every secret that they hear: none of it reaches a person, a file or a program.
#include "tests/support/echo.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "tests/e2e/site.h"

namespace cupel::testing {
namespace {

using ::testing::IsEmpty;

/// Something of every kind that somebody escapes; good enough for every policy.
const std::string kPassword = R"(Pl4n-t"ed\S3&cr<et)";
const std::string kTokenMark = "S3SSIONtok";

/// What must not be found anywhere, however spelled: any part of the password counts.
std::vector<std::string> traces() {
  std::vector<std::string> all{"Pl4n",
                               "S3&",
                               "cr<et",
                               "\\u0050\\u006c",
                               "%50%6C",
                               "&#80;&#108;",
                               "token-" + kTokenMark,
                               "\\u0074\\u006f\\u006b\\u0065\\u006e"};
  all.push_back(test::basic_of("admin", kPassword).substr(0, 16));
  return all;
}

std::vector<std::string> leaks_in(const std::string& text) {
  std::vector<std::string> found;
  for (const auto& trace : traces()) {
    const auto at = text.find(trace);
    if (at != text.npos) found.push_back(text.substr(at < 60 ? 0 : at - 60, 160));
  }
  return found;
}

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream{file, std::ios::binary}.rdbuf();
  return text.str();
}

/// Three nodes: one BMC repeats what it hears in a refused login, one in every other refusal, one
/// in every document.
class EchoingBmcs : public ::testing::Test {
 protected:
  void SetUp() override {
    CUPEL_NEEDS_SITE();
    site.emplace(3, Site::Slurm::none);
    site->password = kPassword;
    begin_echo();
  }
  /// Of what they hear from now on: a token of another process is none that this one knows.
  void begin_echo() {
    const test::EchoIn ways[] = {test::EchoIn::logins, test::EchoIn::refusals,
                                 test::EchoIn::documents};
    for (int node = 1; node <= 3; ++node)
      site->bmc(node).change([&](auto& options) {
        options.password = kPassword;
        options.session_prefix = kTokenMark;
        options.last_word = test::echo(ways[node - 1]);
      });
  }
  /// As for the first time: a refused login is not tried again.
  Ran run_afresh(std::vector<std::string> words) {
    std::error_code ignored;
    std::filesystem::remove_all(site->folder / "state", ignored);
    begin_echo();
    return site->run(std::move(words));
  }

  std::optional<Site> site;
};

TEST_F(EchoingBmcs, ShowNoSecretInAnyVerbOfBmc) {
  const std::vector<std::vector<std::string>> verbs{
      {"power"},
      {"power", "on"},
      {"power", "off"},
      {"power", "reset"},
      {"identity"},
      {"inventory"},
      {"firmware"},
      {"sensors"},
      {"log"},
      {"log", "clear"},
      {"boot"},
      {"boot", "pxe"},
      {"media"},
      {"media", "insert", "http://u:" + std::string{"Pl4n-w0rd"} + "@10.0.0.1/x.iso"},
      {"media", "eject"},
      {"bios", "get"},
      {"accounts"},
      {"services"},
      {"services", "enable", "SSH"},
      {"clock"},
      {"clock", "set"},
      {"locate", "on"},
      {"reset"},
      {"budget"},
      {"retry-login"},
      {"password", "rotate"},
      {"accept-certificate"},
  };
  for (const auto& verb : verbs) {
    std::vector<std::string> words{"bmc", "all"};
    words.insert(words.end(), verb.begin(), verb.end());

    const auto reported = run_afresh(words);
    words.emplace_back("--json");
    const auto for_programs = run_afresh(words);

    const auto output = reported.out + reported.err + for_programs.out + for_programs.err;
    EXPECT_THAT(leaks_in(output), IsEmpty()) << fmt::format("{}", fmt::join(verb, " "));
  }
}

TEST_F(EchoingBmcs, ShowNoSecretInTheNextProcessEither) {
  ASSERT_EQ(site->run({"bmc", "s01-n01", "power"}).status, 1);

  const auto again = site->run({"bmc", "s01-n01", "power"});

  EXPECT_EQ(again.status, 1);
  EXPECT_THAT(again.err, HasSubstr("refused user admin"));
  EXPECT_THAT(leaks_in(again.err), IsEmpty());
}

TEST_F(EchoingBmcs, LeaveNoSecretInJournalEvidenceAndReports) {
  site->write(
      "look.yaml",
      "playbook: look\ndescription: reads\nsteps:\n  - step: bmc-facts\n  - step: power-on\n"
      "  - step: ssh-wait\n  - step: audit\n  - step: verdict\n");

  const auto ran = site->run({"run", "look.yaml", "--nodes", "all"});
  const auto page = site->run({"report", "--html", "page.html"});

  std::string output =
      ran.out + ran.err + page.out + page.err + contents(site->folder / "page.html");
  for (const auto& words : std::vector<std::vector<std::string>>{{"show", "s01-n01"},
                                                                 {"show", "s01-n02"},
                                                                 {"show", "s01-n03", "--json"},
                                                                 {"report", "--json"},
                                                                 {"actions"},
                                                                 {"status", "--json"}}) {
    const auto reported = site->run(words);
    output += reported.out + reported.err;
  }
  EXPECT_THAT(leaks_in(output), IsEmpty());
  EXPECT_THAT(output, HasSubstr("(hidden)"));
  for (const auto& file : std::filesystem::recursive_directory_iterator{site->folder / "state"}) {
    if (!file.is_regular_file()) continue;
    EXPECT_THAT(leaks_in(contents(file.path())), IsEmpty()) << file.path();
  }
}

}  // namespace
}  // namespace cupel::testing
