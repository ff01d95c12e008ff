// The rules of the house that a compiler does not know: which room may include which, where
// third-party headers live, how large a file may be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace cupel {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

constexpr std::uintmax_t kOrdinary = 16'000;  // bytes; nine files of ten are smaller
constexpr std::uintmax_t kLargest = 30'000;

struct Source {
  std::string path;  // "bmc/redfish/uri.h"
  std::string text;
  std::uintmax_t bytes = 0;
};

const std::vector<Source>& sources() {
  static const auto all = [] {
    std::vector<Source> found;
    for (const auto* room :
         {"base", "bmc", "burnin", "inventory", "orchestrator", "playbooks", "rehearsal", "tests"})
      for (const auto& entry : fs::recursive_directory_iterator{fs::path{SOURCE_DIR} / room}) {
        const auto extension = entry.path().extension();
        if (extension != ".cpp" && extension != ".h") continue;
        std::ostringstream text;
        text << std::ifstream{entry.path()}.rdbuf();
        found.push_back(
            {fs::relative(entry.path(), SOURCE_DIR).string(), text.str(), entry.file_size()});
      }
    return found;
  }();
  return all;
}

/// "bmc/redfish/uri.h": "bmc"; "orchestrator/engine/event.h": "orchestrator/engine".
std::string room_of(const std::string& path) {
  const auto first = path.find('/');
  const auto room = path.substr(0, first);
  if (room != "orchestrator") return room;
  return path.substr(0, path.find('/', first + 1));
}

std::vector<std::string> includes(const Source& source, const std::regex& form) {
  std::vector<std::string> found;
  const auto begin = std::sregex_iterator{source.text.begin(), source.text.end(), form};
  for (auto it = begin; it != std::sregex_iterator{}; ++it) found.push_back((*it)[1]);
  return found;
}

/// What the virtual cupel-node shares with the product's own: a rehearsal proves that one.
bool is_shared_with_the_virtual_node(const std::string& path, const std::string& header) {
  if (path == "rehearsal/tools/cupel_node_log.cpp")
    return header == "burnin/agent/node/kernel_messages.h";
  if (path == "rehearsal/tools/virtual_settings.h")
    return header == "burnin/agent/node/stages/settings.h";
  return path == "rehearsal/tools/cupel_node_stage.cpp" &&
         header == "burnin/agent/node/stages/stage.h";
}

/// Besides itself. The table of the README, as data.
const std::map<std::string, Names>& may_include() {
  static const std::map<std::string, Names> table{
      {"base", {}},
      {"inventory", {"base"}},
      {"bmc", {"base", "inventory"}},
      {"burnin", {"base", "inventory"}},
      {"playbooks", {"base", "inventory", "burnin"}},
      {"rehearsal", {"base", "inventory"}},
      {"orchestrator/engine", {"base", "inventory", "burnin", "playbooks"}},
      {"orchestrator/store", {"base", "inventory", "bmc", "orchestrator/engine"}},
      {"orchestrator/ssh", {"base", "inventory"}},
      {"orchestrator/handoff", {"base", "inventory", "bmc"}},
      {"orchestrator/dcim", {"base", "inventory", "orchestrator/handoff"}},
      {"orchestrator/archive",
       {"base", "inventory", "bmc", "orchestrator/engine", "orchestrator/store"}},
      {"orchestrator/console", {"base", "inventory", "bmc"}},
      {"orchestrator/firmware", {"base", "inventory", "bmc", "orchestrator/images"}},
      {"orchestrator/images", {"base"}},
      {"orchestrator/web", {}},
      {"orchestrator/netboot", {"base", "inventory", "orchestrator/images"}},
      {"orchestrator/os",
       {"base", "inventory", "bmc", "orchestrator/ssh", "orchestrator/console",
        "orchestrator/netboot"}},
      {"orchestrator/settings", {"base", "inventory", "bmc", "burnin"}},
      {"orchestrator/record",
       {"base", "inventory", "burnin", "orchestrator/engine", "orchestrator/store"}},
      {"orchestrator/report",
       {"base", "inventory", "burnin", "playbooks", "orchestrator/engine", "orchestrator/store",
        "orchestrator/record"}},
      {"orchestrator/certificate",
       {"base", "inventory", "burnin", "orchestrator/engine", "orchestrator/store",
        "orchestrator/record", "orchestrator/report"}},
      {"orchestrator/compliance",
       {"base", "inventory", "burnin", "playbooks", "orchestrator/engine", "orchestrator/store",
        "orchestrator/record", "orchestrator/report"}},
      {"orchestrator/requalify",
       {"base", "inventory", "burnin", "playbooks", "orchestrator/engine", "orchestrator/store",
        "orchestrator/record", "orchestrator/report"}},
      {"orchestrator/rma",
       {"base", "inventory", "burnin", "orchestrator/engine", "orchestrator/store",
        "orchestrator/ssh", "orchestrator/record", "orchestrator/report"}},
      {"orchestrator/steps",
       {"base", "inventory", "bmc", "burnin", "playbooks", "orchestrator/engine",
        "orchestrator/store", "orchestrator/ssh", "orchestrator/handoff", "orchestrator/firmware",
        "orchestrator/images", "orchestrator/netboot", "orchestrator/console", "orchestrator/os",
        "orchestrator/record", "orchestrator/settings"}},
      {"orchestrator/controller",
       {"base", "inventory", "bmc", "burnin", "playbooks", "orchestrator/engine",
        "orchestrator/store", "orchestrator/ssh", "orchestrator/handoff", "orchestrator/firmware",
        "orchestrator/images", "orchestrator/netboot", "orchestrator/console", "orchestrator/os",
        "orchestrator/record", "orchestrator/report", "orchestrator/steps"}},
      {"orchestrator/api",
       {"base", "inventory", "bmc", "burnin", "playbooks", "orchestrator/engine",
        "orchestrator/store", "orchestrator/ssh", "orchestrator/handoff", "orchestrator/console",
        "orchestrator/record", "orchestrator/report", "orchestrator/requalify",
        "orchestrator/controller"}},
  };
  return table;
}

TEST(Tidy, RoomsIncludeOnlyWhatTheTableAllows) {
  const std::regex ours{R"re(#include "([a-z_0-9/]+\.h)")re"};
  for (const auto& source : sources()) {
    const auto room = room_of(source.path);
    const auto row = may_include().find(room);
    if (row == may_include().end()) continue;  // cli and tests: where the parts meet
    for (const auto& header : includes(source, ours)) {
      const auto other = room_of(header);
      if (is_shared_with_the_virtual_node(source.path, header)) continue;
      EXPECT_TRUE(other == room || row->second.contains(other))
          << source.path << " must not include " << header;
    }
  }
}

TEST(Tidy, TheControllerHasNoTerminal) {
  const std::regex terminal{
      R"(\b(stdout|stderr|stdin|isatty|printf|puts|fputs|fwrite|STD\w+_FILENO)\b)"};
  for (const auto& source : sources()) {
    if (!source.path.starts_with("orchestrator/controller/")) continue;
    std::smatch found;
    EXPECT_FALSE(std::regex_search(source.text, found, terminal))
        << source.path << ": " << found.str();
  }
}

TEST(Tidy, TheControllerKnowsTheVirtualRackAsAProgramAlone) {
  const std::regex rack{R"re(#include "(rehearsal/[a-z_0-9/]+\.h)")re"};
  for (const auto& source : sources())
    if (source.path.starts_with("orchestrator/"))
      for (const auto& header : includes(source, rack))
        ADD_FAILURE() << source.path << " must not include " << header << ": cupel-sim has it";
}

TEST(Tidy, AVirtualBmcKnowsItsMachineByItsInterfaceAlone) {
  const std::regex ours{R"re(#include "([a-z_0-9/]+\.h)")re"};
  for (const auto& source : sources()) {
    const bool bmc =
        source.path.starts_with("rehearsal/bmc/") || source.path.starts_with("rehearsal/ipmi/");
    if (!bmc) continue;
    for (const auto& header : includes(source, ours)) {
      const bool simulated = header == "rehearsal/machine.h" || header == "rehearsal/console.h" ||
                             header == "rehearsal/physics/machine_physics.h";
      EXPECT_FALSE(simulated) << source.path << " must not include " << header;
    }
  }
}

TEST(Tidy, ThirdPartyHeadersLiveInOnePlaceEach) {
  // Where a header may be included; a folder ends with a slash.
  const std::map<std::string, std::vector<std::string>> homes{
      {"curl/", {"bmc/redfish/transport.cpp", "bmc/redfish/curl_loop.", "tests/"}},
      {"libssh/", {"orchestrator/ssh/", "rehearsal/ssh/", "tests/"}},
      {"yaml-cpp/", {"inventory/yaml.cpp"}},
      {"soci/", {"orchestrator/store/"}},
      {"sqlite3.h", {"orchestrator/store/", "tests/"}},
      {"libpq-fe.h", {"tests/support/postgresql.cpp"}},
      {"soci/postgresql/", {"orchestrator/store/postgresql.cpp"}},
      {"zlib.h", {"orchestrator/store/gzip.cpp", "bmc/redfish/inflate.cpp", "tests/"}},
      {"ctemplate/", {"orchestrator/os/installer_templates.cpp"}},
      {"CLI/", {"orchestrator/cli/parse_command_line.cpp", "rehearsal/sim/main.cpp"}},
      {"spdlog/", {"base/log.cpp"}},
      {"pugixml.hpp", {"burnin/", "orchestrator/archive/", "tests/"}},
      {"boost/beast",
       {"base/boost_sources.cpp", "orchestrator/images/", "orchestrator/api/listener.cpp",
        "orchestrator/api/exchange.cpp", "rehearsal/bmc/", "rehearsal/http_client.cpp", "tests/"}},
      {"prometheus/", {"orchestrator/api/metrics.cpp"}},
      {"p11-kit/", {"base/pkcs11.cpp"}},
      {"openssl/",
       {"base/", "bmc/redfish/tls.cpp", "bmc/ipmi/crypto.cpp", "rehearsal/", "orchestrator/steps/",
        "orchestrator/api/listener.cpp", "tests/"}},
  };
  const std::regex theirs{R"(#include <([^>]+)>)"};
  for (const auto& source : sources())
    for (const auto& header : includes(source, theirs))
      for (const auto& [prefix, places] : homes) {
        if (!header.starts_with(prefix)) continue;
        const bool home = std::ranges::any_of(
            places, [&](const auto& place) { return source.path.starts_with(place); });
        EXPECT_TRUE(home) << source.path << " must not include <" << header << ">";
      }
}

TEST(Tidy, NoFileIncludesAllOfAsio) {
  for (const auto& source : sources())
    EXPECT_EQ(source.text.find("#include <boost/"
                               "asio.hpp>"),
              std::string::npos)
        << source.path;
}

TEST(Tidy, NoFileIncludesASourceFile) {
  const std::regex source_file{R"re(#include ["<]([^">]+\.(cpp|cc|cxx|c))[">])re"};
  for (const auto& source : sources())
    EXPECT_EQ(includes(source, source_file), std::vector<std::string>{}) << source.path;
}

TEST(Tidy, NoFileSleepsWhereThereIsAnEvent) {
  const std::regex sleeps{R"(\b(this_thread::sleep_\w+|usleep|nanosleep)\()"};
  for (const auto& source : sources()) {
    if (source.text.find("sleep") == source.text.npos) continue;  // regular expressions are slow
    EXPECT_FALSE(std::regex_search(source.text, sleeps)) << source.path;
  }
}

/// How fast a machine is, and what else it does, is none of a test's business.
TEST(Tidy, NoTestAssertsATimeOrTakesANameThatAnotherMayHave) {
  const std::regex quick{R"((EXPECT|ASSERT)_L[TE]\([^;]*\b(Clock|steady_clock|Real)::now\(\))"};
  for (const auto& source : sources()) {
    if (!source.path.starts_with("tests/") || source.path.starts_with("tests/bench/")) continue;
    EXPECT_EQ(source.text.find("TempDir"
                               "()"),
              std::string::npos)
        << source.path << ": test::TemporaryFolder is the test's own";
    if (source.text.find("::now()") == source.text.npos) continue;
    EXPECT_FALSE(std::regex_search(source.text, quick)) << source.path;
  }
}

/// A failed ASSERT ends the function that it is in. In SetUp() googletest then leaves out the test;
/// in a function that the test calls, the test goes on without the machines that were to be made.
TEST(Tidy, WhatMakesMachinesForATestEndsTheTestWhereItFails) {
  for (const auto& source : sources()) {
    if (!source.path.starts_with("tests/e2e/bare_metal/") &&
        !source.path.starts_with("tests/rehearsal/qemu/"))
      continue;
    std::istringstream text{source.text};
    std::string line, end;  // of the test, or of SetUp()
    for (int number = 1; std::getline(text, line); ++number) {
      if (line.starts_with("TEST")) end = "}";
      if (line == "  void SetUp() override {") end = "  }";
      EXPECT_FALSE(end.empty() && line.find("ASSERT_") != line.npos)
          << source.path << ":" << number << ": require(), which throws";
      if (line == end) end.clear();
    }
  }
}

/// A stream's constructor waits for the other end of a pipe; read_file() and write_file() do not,
/// and know whose file it is. Here a file is ours, is too large for them, or was looked at before.
TEST(Tidy, FilesThatOptionsAndKeysNameAreReadByTheFunctionThatWaitsForNoPipe) {
  const Names others{"orchestrator/cli/firmware_images.cpp",      // images, by parts
                     "orchestrator/cli/image_make.cpp",           // disks: no pipe
                     "orchestrator/controller/boot_files.cpp",    // a disc of ours
                     "orchestrator/controller/state_folder.cpp",  // an inventory that was read
                     "orchestrator/images/disk_bytes.h",          // of what others opened
                     "orchestrator/images/ext4.cpp",              // the same
                     "orchestrator/images/ext4.h",
                     "orchestrator/images/fat.cpp",
                     "orchestrator/images/fat.h",
                     "orchestrator/images/partitions.cpp",
                     "orchestrator/images/partitions.h",
                     "orchestrator/images/raw_disk.cpp",    // disks: no pipe
                     "orchestrator/images/seed_place.cpp",  // the same
                     "orchestrator/os/console_tail.cpp",    // a run's own
                     "orchestrator/ssh/libraries.cpp"};     // programs beside ours
  for (const auto& source : sources()) {
    const auto room = room_of(source.path);
    if (room == "tests" || room == "rehearsal" || room == "burnin") continue;
    const bool streams =
        source.text.contains("std::ifstream") || source.text.contains("std::fstream");
    EXPECT_TRUE(!streams || others.contains(source.path))
        << source.path << ": read_file(), or a reason in this table";
  }
}

TEST(Tidy, NoFileSpawnsADetachedTask) {
  for (const auto& source : sources()) {
    if (source.path.starts_with("tests/")) continue;
    EXPECT_EQ(source.text.find("asio::"
                               "detached"),
              std::string::npos)
        << source.path;
  }
}

/// The arguments of the call whose bracket opens before `at`.
std::vector<std::string> arguments_at(std::string_view text, std::size_t at) {
  std::vector<std::string> arguments(1);
  for (int depth = 1; at < text.size(); ++at) {
    const char c = text[at];
    if (std::string_view{"([{"}.contains(c)) ++depth;
    if (std::string_view{")]}"}.contains(c) && --depth == 0) break;
    if (c == ',' && depth == 1)
      arguments.emplace_back();
    else
      arguments.back() += c;
  }
  for (auto& each : arguments) {
    each.erase(0, each.find_first_not_of(" \n"));
    each.erase(each.find_last_not_of(" \n") + 1);
  }
  return arguments;
}

/// "failure", "ignored" of a file.
Names error_codes(const std::string& text) {
  const std::regex declared{R"(std::error_code&? ([\w, {}]+)[;),])"}, word{R"(\w+)"};
  Names names;
  for (auto it = std::sregex_iterator{text.begin(), text.end(), declared};
       it != std::sregex_iterator{}; ++it) {
    const auto list = (*it)[1].str();
    for (auto each = std::sregex_iterator{list.begin(), list.end(), word};
         each != std::sregex_iterator{}; ++each)
      names.insert(each->str());
  }
  return names;
}

TEST(Tidy, NoCallOfTheFileSystemThrows) {
  // A path that the user may not look at has ended whole commands. base/paths.h has what is needed
  // most; any other call takes an error code last.
  const std::regex call{
      R"(\b(?:fs|filesystem)::(exists|is_\w+|file_size|last_write_time|\w*status|create_\w+|)"
      R"(remove|remove_all|rename|copy|copy_file|permissions|\w*canonical|absolute|current_path|)"
      R"(temp_directory_path|read_symlink|space|resize_file|equivalent|relative|proximate|)"
      R"(hard_link_count|\w*directory_iterator)\s*(?:\w+\s*)?[({])"};
  const std::regex loop{R"(for \([^;{]*: [^;]*directory_iterator)"};
  const std::regex of_entry{
      R"((\.|->)(is_regular_file|is_directory|is_symlink|file_size|last_write_time)\(\))"};
  for (const auto& source : sources()) {
    if (source.path.starts_with("tests/")) continue;
    std::smatch found;
    EXPECT_FALSE(std::regex_search(source.text, found, loop)) << source.path << ": " << found.str();
    EXPECT_FALSE(std::regex_search(source.text, found, of_entry))
        << source.path << ": " << found.str();
    const auto codes = error_codes(source.text);
    const auto begin = std::sregex_iterator{source.text.begin(), source.text.end(), call};
    for (auto it = begin; it != std::sregex_iterator{}; ++it) {
      const auto at = static_cast<std::size_t>(it->position() + it->length());
      const auto arguments = arguments_at(source.text, at);
      const auto& last = arguments.back();
      const bool end_iterator = last.empty() && it->str().contains("directory_iterator");
      // Of a status that was read before: exists(status), is_directory(status).
      const bool of_status = arguments.size() == 1 && last.contains("status");
      EXPECT_TRUE(codes.contains(last) || end_iterator || of_status)
          << source.path << ": " << it->str() << last << ": no error code, so it throws";
    }
  }
}

TEST(Tidy, NoParserOfUrlsGetsANullTextNorParseQueryOneWithoutANul) {
  // Boost.URL 1.81 takes data() of an empty text for an address, and its parse_query() reads to a
  // NUL: that takes view() of a Terminated.
  const std::regex of_terminated{R"(^(\w+)\.view\(\)\))"};
  const std::regex call{R"(boost::urls::(parse_\w+|make_\w+|url\w*)\()"};
  for (const auto& source : sources()) {
    if (source.path.starts_with("tests/")) continue;
    const auto begin = std::sregex_iterator{source.text.begin(), source.text.end(), call};
    for (auto it = begin; it != std::sregex_iterator{}; ++it) {
      const auto argument = it->suffix().str();
      std::smatch named;
      if ((*it)[1] != "parse_query")
        EXPECT_TRUE(argument.starts_with("never_null("))
            << source.path << ": " << it->str() << " of never_null(...) alone";
      else if (std::regex_search(argument, named, of_terminated))
        EXPECT_THAT(source.text, ::testing::HasSubstr("const Terminated " + named[1].str() + "{"))
            << source.path;
      else
        ADD_FAILURE() << source.path << ": " << it->str() << " of a Terminated's view() alone";
    }
  }
}

TEST(Tidy, VendorsAreDataInOnePlace) {
  // No comparison with a vendor's name, in whatever case, outside of the table of differences.
  const std::regex comparison{
      R"re((==|!=|starts_with\(|contains\(|find\()\s*"(nvidia|dell|hpe?|lenovo|supermicro|gigabyte|)re"
      R"re(ami|openbmc|asrock|cisco|huawei|idrac|ilo|xcc)\b)re",
      std::regex::icase};
  for (const auto& source : sources()) {
    if (!source.path.starts_with("bmc/") || source.path == "bmc/redfish/vendors.cpp") continue;
    std::smatch found;
    EXPECT_FALSE(std::regex_search(source.text, found, comparison))
        << source.path << ": " << found.str() << ": a column in bmc/redfish/vendors.h instead";
  }
}

TEST(Tidy, OneFileWritesABootOrderAndNoneAHostInterface) {
  const std::regex written{R"re("(BootOrder|HostInterfaces?)")re"};
  for (const auto& source : sources()) {
    if (!source.path.starts_with("bmc/")) continue;
    // The one verb that a profile with boot_order asks for; nothing else may change the order.
    if (source.path == "bmc/redfish/boot_order.cpp") continue;
    EXPECT_FALSE(std::regex_search(source.text, written)) << source.path;
  }
}

/// "Quirk.ItIsSo" of every TEST, TEST_F and TEST_P.
Names all_tests() {
  const std::regex form{R"(\bTEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))"};
  Names names;
  for (const auto& source : sources()) {
    if (!source.path.starts_with("tests/")) continue;
    const auto begin = std::sregex_iterator{source.text.begin(), source.text.end(), form};
    for (auto it = begin; it != std::sregex_iterator{}; ++it)
      names.insert((*it)[1].str() + "." + (*it)[2].str());
  }
  return names;
}

/// How many tests the document names; each that does not exist is a failure.
int expect_named_tests_exist(const char* document) {
  std::ostringstream text;
  text << std::ifstream{fs::path{SOURCE_DIR} / document}.rdbuf();
  const auto words = text.str();
  const auto tests = all_tests();
  const std::regex name{R"(`(\w+\.[A-Z]\w+)`)"};
  int named = 0;
  for (auto it = std::sregex_iterator{words.begin(), words.end(), name};
       it != std::sregex_iterator{}; ++it, ++named)
    EXPECT_TRUE(tests.contains((*it)[1])) << (*it)[1] << " of " << document << " is in no test";
  return named;
}

TEST(Tidy, EveryTestThatTheQuirksNameExists) {
  EXPECT_GT(expect_named_tests_exist("docs/know/quirks.md"), 100);
}

TEST(Tidy, EveryTestThatTheTrapsNameExists) {
  EXPECT_GT(expect_named_tests_exist("docs/know/traps.md"), 40);
}

TEST(Tidy, EveryTrapIsListedOnceAndHasATestUnlessItWaits) {
  std::ifstream traps{fs::path{SOURCE_DIR} / "docs/know/traps.md"};
  const std::regex row{R"(^\| (\d+) \|)"}, test{R"(`\w+\.[A-Z]\w+`)"};
  std::smatch number;
  int next = 1;
  for (std::string line; std::getline(traps, line);) {
    if (!std::regex_search(line, number, row)) continue;
    EXPECT_EQ(number[1], std::to_string(next++)) << line;
    EXPECT_TRUE(std::regex_search(line, test) || line.find("waits for") != line.npos) << line;
  }
  EXPECT_EQ(next, 41);
}

TEST(Tidy, EveryRowOfTheQuirksNamesATest) {
  std::ifstream quirks{fs::path{SOURCE_DIR} / "docs/know/quirks.md"};
  const std::regex test{R"(`\w+\.[A-Z]\w+` *\|$|`\w+\.[A-Z]\w+`, )"};
  for (std::string line; std::getline(quirks, line);) {
    const bool row = line.starts_with("| ") && !line.starts_with("| who |");
    if (!row) continue;
    EXPECT_TRUE(std::regex_search(line, test)) << line;
  }
}

TEST(Tidy, FilesAreSmall) {
  std::vector<std::string> large;
  for (const auto& source : sources()) {
    EXPECT_LE(source.bytes, kLargest) << source.path;
    if (source.bytes > kOrdinary) large.push_back(source.path);
  }
  EXPECT_LE(large.size() * 10, sources().size()) << ::testing::PrintToString(large);
}

/// "Task<int> fio(ProcessPtr process, Arguments arguments) {"; also a block within one: what is
/// longer than a function may be is in one that is.
bool opens_function(std::string_view line) {
  constexpr auto kOther = std::to_array<std::string_view>(
      {"namespace ", "extern ", "struct ", "class ", "enum ", "union ", "constexpr ", "const "});
  return line.ends_with(" {") && !line.ends_with("= {") &&
         std::ranges::none_of(kOther,
                              [&](std::string_view word) { return line.starts_with(word); });
}

TEST(Tidy, FunctionsFitOnAScreen) {
  constexpr int kMostLines = 70;
  struct Open {
    int line = 0;
    std::string words;
  };
  for (const auto& source : sources()) {
    if (source.path.starts_with("tests/")) continue;
    std::map<std::size_t, Open>
        open;  // by margin; what ends there ends those further in, whose heads are broken
    std::istringstream text{source.text};
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
      const auto margin = line.find_first_not_of(' ');
      if (margin == line.npos) continue;
      const auto words = line.substr(margin);
      if (words.starts_with('}')) {
        const auto ended = open.lower_bound(margin);
        for (auto begun = ended; begun != open.end(); ++begun)
          EXPECT_LE(number - begun->second.line - 1, kMostLines)
              << source.path << ":" << begun->second.line << ": " << begun->second.words;
        open.erase(ended, open.end());
      }
      if (opens_function(words)) open[margin] = {number, words};
    }
  }
}

TEST(Tidy, HeadersSayWhatTheyAre) {
  for (const auto& source : sources()) {
    if (!source.path.ends_with(".h") || source.path.ends_with("/precompiled.h")) continue;
    EXPECT_TRUE(source.text.starts_with("#pragma once\n")) << source.path;
    if (source.path.starts_with("tests/")) continue;
    EXPECT_TRUE(source.text.starts_with("#pragma once\n// ")) << source.path;
  }
}

TEST(Tidy, NamesPromiseSomething) {
  const std::regex empty{R"(\b(class|struct) \w*(Manager|Helper|Util|Impl[a-z]+)\b)"};
  const auto holds = [](const std::string& text) {  // regular expressions are slow
    for (const auto* word : {"Manager", "Helper", "Util", "Impl"})
      if (text.find(word) != text.npos) return true;
    return false;
  };
  for (const auto& source : sources()) {
    if (!holds(source.text)) continue;
    std::smatch found;
    EXPECT_FALSE(std::regex_search(source.text, found, empty))
        << source.path << ": " << found.str();
  }
}

}  // namespace
}  // namespace cupel
