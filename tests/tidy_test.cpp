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
      {"orchestrator/handoff", {"base", "inventory"}},
      {"orchestrator/console", {"base", "inventory", "bmc"}},
      {"orchestrator/record",
       {"base", "inventory", "burnin", "orchestrator/engine", "orchestrator/store"}},
      {"orchestrator/report",
       {"base", "inventory", "burnin", "orchestrator/engine", "orchestrator/store",
        "orchestrator/record"}},
      {"orchestrator/steps",
       {"base", "inventory", "bmc", "burnin", "playbooks", "orchestrator/engine",
        "orchestrator/store", "orchestrator/ssh", "orchestrator/handoff", "orchestrator/record"}},
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
      EXPECT_TRUE(other == room || row->second.contains(other))
          << source.path << " must not include " << header;
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
      {"CLI/", {"orchestrator/cli/"}},
      {"pugixml.hpp", {"burnin/"}},
      {"boost/beast", {"base/boost_sources.cpp", "rehearsal/bmc/", "tests/"}},
      {"openssl/",
       {"base/", "bmc/redfish/tls.cpp", "bmc/ipmi/crypto.cpp", "rehearsal/", "orchestrator/steps/",
        "tests/"}},
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

TEST(Tidy, NobodyIncludesAllOfAsio) {
  for (const auto& source : sources())
    EXPECT_EQ(source.text.find("#include <boost/"
                               "asio.hpp>"),
              std::string::npos)
        << source.path;
}

TEST(Tidy, NobodySleepsWhereThereIsAnEvent) {
  const std::regex sleeps{R"(\b(sleep_for|this_thread::sleep_until|usleep|nanosleep)\()"};
  for (const auto& source : sources())
    EXPECT_FALSE(std::regex_search(source.text, sleeps)) << source.path;
}

TEST(Tidy, NobodySpawnsWhatNobodyOwns) {
  for (const auto& source : sources()) {
    if (source.path.starts_with("tests/")) continue;
    EXPECT_EQ(source.text.find("asio::"
                               "detached"),
              std::string::npos)
        << source.path;
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

TEST(Tidy, FilesAreSmall) {
  std::vector<std::string> large;
  for (const auto& source : sources()) {
    EXPECT_LE(source.bytes, kLargest) << source.path;
    if (source.bytes > kOrdinary) large.push_back(source.path);
  }
  EXPECT_LE(large.size() * 10, sources().size()) << ::testing::PrintToString(large);
}

TEST(Tidy, HeadersSayWhatTheyAre) {
  for (const auto& source : sources()) {
    if (!source.path.ends_with(".h") || source.path == "base/precompiled.h") continue;
    EXPECT_TRUE(source.text.starts_with("#pragma once\n")) << source.path;
    if (source.path.starts_with("tests/")) continue;
    EXPECT_TRUE(source.text.starts_with("#pragma once\n// ")) << source.path;
  }
}

TEST(Tidy, NamesPromiseSomething) {
  const std::regex empty{R"(\b(class|struct) \w*(Manager|Helper|Util|Impl[a-z]+)\b)"};
  for (const auto& source : sources()) {
    std::smatch found;
    EXPECT_FALSE(std::regex_search(source.text, found, empty))
        << source.path << ": " << found.str();
  }
}

}  // namespace
}  // namespace cupel
