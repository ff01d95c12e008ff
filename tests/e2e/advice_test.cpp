// Every command line of Cupel's own that a text names is one that its parser takes: advice that
// cannot be followed is worse than none.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/e2e/forked_cupel.h"
#include "tests/support/child.h"
#include "tests/support/esp_disk.h"
#include "tests/support/real_part.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kValue = '\x01';  // what is put in when the text is made

/// A literal without its quotes, and where it ends.
std::string take_literal(const std::string& text, std::size_t& at) {
  std::string taken;
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\') {
      taken += text[at];
      continue;
    }
    ++at;
    taken += text[at] == 'n' ? '\n' : text[at];
  }
  ++at;
  return taken;
}

/// Where the literal begins that stands beside the one before `at`; `at` itself where none does.
std::size_t beside(const std::string& text, std::size_t at) {
  const auto next = std::min(text.find_first_not_of(" \t\n", at), text.size());
  return next < text.size() && text[next] == '"' ? next : at;
}

/// Past what is added to the literal before `at`; `at` itself where nothing is.
std::size_t past_added(const std::string& text, std::size_t at) {
  const auto sign = std::min(text.find_first_not_of(" \t\n", at), text.size());
  if (sign == text.size() || text[sign] != '+') return at;
  return std::min(text.find_first_of("\";{},", sign), text.size());
}

/// Literals that stand side by side or are added up, with kValue for all else that is added.
std::string take_chain(const std::string& text, std::size_t& at) {
  auto chain = take_literal(text, at);
  for (;;) {
    if (at = beside(text, at); at < text.size() && text[at] == '"') {
      chain += take_literal(text, at);
    } else if (const auto past = past_added(text, at); past != at) {
      at = past;
      chain += kValue;
    } else {
      return chain;
    }
  }
}

std::vector<std::string> texts_in(const std::string& source) {
  constexpr const char* kBegins = "/'\"R";
  std::vector<std::string> found;
  for (auto at = source.find_first_of(kBegins); at < source.size();
       at = source.find_first_of(kBegins, at)) {
    if (source.compare(at, 2, "//") == 0) {
      at = std::min(source.find('\n', at), source.size());
    } else if (source.compare(at, 3, "'\"'") == 0) {
      at += 3;
    } else if (source.compare(at, 2, "R\"") == 0) {
      const auto begin = std::min(source.find('(', at), source.size() - 1);
      const auto end = ")" + source.substr(at + 2, begin - at - 2) + "\"";
      const auto past = std::min(source.find(end, begin), source.size());
      found.push_back(source.substr(begin + 1, past - begin - 1));
      at = past + end.size();
    } else if (source[at] == '"') {
      found.push_back(take_chain(source, at));
    } else {
      ++at;
    }
  }
  return found;
}

/// Without the sentence around it.
std::string command_at(const std::string& text, std::size_t at) {
  static const std::regex kEnd{
      R"re([\n`;|()"]|[.,:] |[.,:]?$|  | (goes|or|says|and|until|puts|first|will|>)( |$))re"};
  const auto rest = text.substr(at, text.find('\n', at) - at);
  std::smatch end;
  std::regex_search(rest, end, kEnd);
  return rest.substr(0, static_cast<std::size_t>(end.position(0)));
}

/// "actions {}" -> "actions \x01".
std::string with_values(const std::string& text) {
  static const std::regex kPlaceholder{R"(\{[^{} ]*\})"};
  return std::regex_replace(text, kPlaceholder, std::string(1, kValue));
}

std::map<std::string, std::string> advised_commands() {
  static const std::regex kBegin{R"re((^|[\s`(])cupel (?=[a-z]))re"};
  std::map<std::string, std::string> found;
  for (const auto* room : {"orchestrator", "bmc", "inventory", "burnin", "playbooks"})
    for (const auto& entry : fs::recursive_directory_iterator{fs::path{SOURCE_DIR} / room}) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      std::ostringstream source;
      source << std::ifstream{entry.path()}.rdbuf();
      for (const auto& each : texts_in(source.str())) {
        if (each.find("cupel ") == each.npos) continue;  // regular expressions take their time
        const auto text = with_values(each);
        for (auto it = std::sregex_iterator{text.begin(), text.end(), kBegin};
             it != std::sregex_iterator{}; ++it)
          found.emplace(command_at(text, static_cast<std::size_t>(it->position(0) + it->length(0))),
                        entry.path().filename());
      }
    }
  return found;
}

/// As a shell parts it, for what our texts have: single quotes.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  bool quoted = false, open = false;
  for (const char c : command) {
    if (c == '\'') quoted = !quoted;
    if (c == ' ' && !quoted) open = false;
    if (c == '\'' || (c == ' ' && !quoted)) continue;
    if (!open) words.emplace_back();
    open = true;
    words.back() += c;
  }
  return words;
}

/// These would work for long, or ask machines.
bool acts(const std::string& command) {
  for (const auto* begin : {"rehearse", "rack ", "bmc scan", "controller", "serve", "image build",
                            "image import", "image installer"})
    if (command.starts_with(begin)) return true;
  return false;
}

/// What texts say of cupel itself.
bool is_prose(const std::string& command) {
  static const std::set<std::string> kVerbs{"brings", "runs", "is", "has", "keeps", "does",  "was",
                                            "and",    "or",   "in", "on",  "with",  "failed"};
  return kVerbs.contains(command.substr(0, command.find(' ')));
}

class Advice : public ::testing::Test {
 protected:
  Advice() {
    std::string made = (fs::temp_directory_path() / "cupel-advice-XXXXXX").string();
    folder = ::mkdtemp(made.data());
  }
  ~Advice() override {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }

  /// Nothing is there to act on: no inventory, no run.
  bool is_taken(const std::string& command) const {
    auto words = words_of(command);
    for (auto& word : words)
      if (word == "FOLDER") word = (folder / word).string();
    words.insert(words.begin(), {"--state", (folder / "state").string()});
    const auto ran = run_forked_cupel(words);
    const auto output = ran.out + ran.err;
    const bool ended =
        ran.status >= 0 && ran.status <= 3 && output.find("Sanitizer") == output.npos;
    EXPECT_TRUE(ended) << "cupel " << command << ": " << ran.status << ' ' << output;
    const auto says = [&](const char* text) { return output.find(text) != output.npos; };
    return !says("Run with --help") && !says("there is no command") && !says("which nodes?") &&
           !says(" what? ") && !says("which command of ") && !says("' is not a number");
  }

  /// With some value or other in each place, of which some may be nothing.
  bool is_taken_with_values(std::string command) const {
    const auto place = command.find(kValue);
    if (place == command.npos) return is_taken(command);
    // What stands behind a blank is a word: "cupel status 12" is not taken as "cupel status ".
    const bool word = place > 0 && command[place - 1] == ' ';
    for (const auto* value : {"12", "a01-n07", " approval", ""}) {
      if (word && *value == '\0') continue;
      auto filled = command;
      if (is_taken_with_values(filled.replace(place, 1, value))) return true;
    }
    return false;
  }

  fs::path folder;
};

std::string with_names(std::string command) {
  for (const auto& [word, name] : {std::pair{"NODES", "a01-n[07-08]"},
                                   {"NODE", "a01-n07"},
                                   {"RUN", "12"},
                                   {"COMMAND", "true"}})
    if (const auto at = command.find(word); at != command.npos)
      command.replace(at, std::string_view{word}.size(), name);
  return command;
}

TEST_F(Advice, NamesOnlyCommandsThatTheParserTakes) {
  // What begins a longer one.
  const std::set<std::string> not_whole{"bmc NODE ", "exec NODE ", "run"};
  const auto commands = advised_commands();
  EXPECT_GT(commands.size(), 60u);
  for (const auto& [command, file] : commands) {
    if (acts(command) || is_prose(command) || not_whole.contains(command)) continue;
    EXPECT_TRUE(is_taken_with_values(with_names(command))) << file << " advises: cupel " << command;
  }
}

TEST_F(Advice, NamesTheWordThatTheParserDoesNotTake) {
  const auto output = [](const std::string& command) {
    return run_forked_cupel(words_of(command)).err;
  };

  EXPECT_THAT(
      output("bmc a01-n07 powr"),
      ::testing::HasSubstr("there is no command 'powr' of cupel bmc (did you mean 'power'?); "
                           "see cupel bmc --help"));
  EXPECT_THAT(output("fabric"),
              ::testing::HasSubstr("cupel: which command of cupel fabric? plan, audit, "));
  EXPECT_THAT(output("report twelve"), ::testing::HasSubstr("RUN: 'twelve' is not a number"));
  EXPECT_EQ(run_forked_cupel(words_of("report twelve")).status, 2);
  EXPECT_THAT(output("sensors a01-n07"), ::testing::HasSubstr("there is no command 'sensors'; see "
                                                              "cupel bmc sensors --help"));
  EXPECT_THAT(output("statsu"), ::testing::HasSubstr("there is no command 'statsu' (did you mean "
                                                     "'status'?); see cupel --help"));
}

TEST_F(Advice, HelpAndTheVersionAreGivenByAWordToo) {
  const auto printed = [](const std::string& command) {
    const auto ran = run_forked_cupel(words_of(command));
    EXPECT_EQ(ran.status, 0) << command << ": " << ran.err;
    return ran.out;
  };

  EXPECT_EQ(printed("help"), printed("--help"));
  EXPECT_EQ(printed("help bmc power"), printed("bmc power --help"));
  EXPECT_EQ(printed("version"), printed("--version"));
}

TEST_F(Advice, SaysWhyAFileIsNoDiskToImport) {
  const auto file = (folder / "empty.raw").string();
  std::ofstream{file};

  const auto ran = run(
      {CUPEL_BINARY, "image", "--images", (folder / "images").string(), "import", file, "d12"}, {});

  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, ::testing::HasSubstr("empty.raw: is empty, and no disk"));

  const auto pipe = (folder / "pipe.raw").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto of_pipe =
      run_forked_cupel({"image", "--images", (folder / "images").string(), "import", pipe, "d12"});
  EXPECT_EQ(of_pipe.status, 2);
  EXPECT_THAT(of_pipe.err, ::testing::HasSubstr("pipe.raw: is a pipe, and is read more than once"));
}

TEST_F(Advice, ARamSystemObeysEachBootServerOnlyWhereThatIsAskedFor) {
  const auto images = folder / "images";
  const auto built = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"--programs",    folder.string(), "image", "--images",
                                   images.string(), "build",         "r1"};
    words.insert(words.end(), more.begin(), more.end());
    return run_forked_cupel(words);
  };
  const auto ca = (folder / "ca.pem").string();
  std::ofstream{ca} << "PEM";

  const auto without = built({});
  const auto both = built({"--ca", ca, "--any-boot-server"});

  EXPECT_EQ(without.status, 2);
  EXPECT_THAT(without.err, ::testing::HasSubstr("would obey each boot server"));
  EXPECT_THAT(without.err, ::testing::HasSubstr("cupel image build NAME --any-boot-server"));
  EXPECT_EQ(both.status, 2);
  EXPECT_THAT(both.err, ::testing::HasSubstr("--any-boot-server"));
  EXPECT_FALSE(fs::exists(images));
}

TEST_F(Advice, AnImportedDiskHasItsLoaderAndSaysWhetherABiosStartsIt) {
  CUPEL_NEEDS_REAL_PART(run({"zstd", "--version"}, {}).status == 0, "zstd is not installed");
  CUPEL_NEEDS_REAL_PART(has_fat_tools(), "dosfstools or mtools is not installed");
  const bool is_arm = run({"uname", "-m"}).out == "aarch64\n";
  auto disk = esp_disk(folder, 12, {is_arm ? "BOOT/BOOTAA64.EFI" : "BOOT/BOOTX64.EFI"});
  const auto file = (folder / "disk.raw").string();
  const auto imported = [&](const std::string& name) {
    std::ofstream{file} << disk;
    return run({CUPEL_BINARY, "image", "--images", (folder / "images").string(), "import", file,
                name, "--json"},
               {})
        .out;
  };

  const auto by_uefi = imported("uefi");
  const auto of_another_machine =
      run({CUPEL_BINARY, "image", "--images", (folder / "images").string(), "import", file, "none",
           "--arch", is_arm ? "x86_64" : "aarch64"});
  disk.replace(0, 2, "\xeb\x63");
  const auto by_bios = imported("bios");
  const auto of_another = run({CUPEL_BINARY, "image", "--images", (folder / "images").string(),
                               "import", file, "none", "--efi", R"(\EFI\debian\shimx64.efi)"});

  EXPECT_THAT(by_uefi, ::testing::HasSubstr("\"content\""));
  EXPECT_THAT(by_uefi, ::testing::Not(::testing::HasSubstr("\"bios\":true")));
  EXPECT_THAT(by_bios, ::testing::HasSubstr("\"bios\":true"));
  EXPECT_EQ(of_another_machine.status, 2);
  EXPECT_THAT(of_another_machine.err, ::testing::HasSubstr(is_arm ? "say so by --arch aarch64"
                                                                  : "say so by --arch x86_64"));
  EXPECT_EQ(of_another.status, 2);
  EXPECT_THAT(of_another.err, ::testing::HasSubstr(R"(has no \EFI\debian\shimx64.efi)"));
  EXPECT_FALSE(fs::exists(folder / "images/none"));
}

TEST_F(Advice, NodesStandInFrontOfAVerbOrBehindIt) {
  const auto output = [&](const std::string& command) {
    auto words = words_of(command);
    words.insert(words.begin(), {"--state", (folder / "state").string()});
    return run_forked_cupel(words).err;
  };

  for (const auto& [other, usual] :
       {std::pair{"bmc power a01-n07 on", "bmc a01-n07 power on"},
        {"bmc --patience 5s power a01-n07", "bmc --patience 5s a01-n07 power"},
        {"bmc power --force a01-n07 off", "bmc a01-n07 power --force off"},
        {"bmc sensors a01-n07", "bmc a01-n07 sensors"},
        {"bmc bios a01-n07 set A=B", "bmc a01-n07 bios set A=B"},
        {"bmc bios set a01-n07 A=B", "bmc a01-n07 bios set A=B"},
        {"bmc boot http a01-n07 http://10.0.0.1/x", "bmc a01-n07 boot http http://10.0.0.1/x"},
        {"bmc log --since 2h a01-n07", "bmc a01-n07 log --since 2h"},
        {"settings a01-n07 plan", "settings plan a01-n07"},
        {"firmware a01-n07 check", "firmware check a01-n07"}}) {
    EXPECT_TRUE(is_taken(other)) << other;
    EXPECT_EQ(output(other), output(usual)) << other;
  }
  EXPECT_FALSE(is_taken("bmc power on")) << "no nodes";
  EXPECT_FALSE(is_taken("bmc boot http http://10.0.0.1/x")) << "no nodes";
}

TEST_F(Advice, IsRefusedWhereItIsWrong) {
  EXPECT_FALSE(is_taken("bmc a01-n07 accept-certificates"));
  EXPECT_FALSE(is_taken("bmc bios set"));
  EXPECT_FALSE(is_taken("retry"));
  EXPECT_FALSE(is_taken("profile learn a01-n07 --name 'my dgx'"));
  EXPECT_FALSE(is_taken("skip 12 a01-n07 disk --reason ' '"));
  EXPECT_TRUE(is_taken("skip 12 a01-n07 disk --reason 'on order'"));
  EXPECT_FALSE(is_taken("run audit --notify /nowhere/tell"));
  EXPECT_TRUE(is_taken("run audit --notify /bin/true"));
  EXPECT_FALSE(is_taken("accept-host-key a01-n07"));
  EXPECT_FALSE(is_taken("actions 12 --everything"));
}

}  // namespace
}  // namespace cupel::testing
