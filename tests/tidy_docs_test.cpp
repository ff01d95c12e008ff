// Documents that lead somewhere: each link to a file and a heading that exist, each page reachable
// from the README, and the list of pages and the drawing as their scripts make them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/markdown.h"

namespace cupel::testing {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const std::vector<MarkdownPage>& pages() {
  static const auto all = markdown_pages();
  return all;
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream{file}.rdbuf();
  return text.str();
}

/// "The RAM system" -> "the-ram-system": the anchor that GitHub, GitLab and Gitea give a heading.
std::string anchor_of(const std::string& heading) {
  static const std::regex kLink{R"(\[([^\]]*)\]\([^)]*\))"};
  std::string anchor;
  for (const char c : std::regex_replace(heading, kLink, "$1")) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ') anchor += '-';
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80)
      anchor += static_cast<char>(std::tolower(byte));
  }
  return anchor;
}

Names anchors_of(const MarkdownPage& page) {
  Names anchors;
  std::map<std::string, int> seen;
  for (const auto& [text, code] : page.lines) {
    if (code || !text.starts_with('#')) continue;
    const auto begin = text.find_first_not_of("# ");
    if (begin == text.npos) continue;
    const auto anchor = anchor_of(text.substr(begin));
    const int before = seen[anchor]++;
    anchors.insert(before == 0 ? anchor : anchor + "-" + std::to_string(before));
  }
  return anchors;
}

struct Link {
  std::string written;
  std::string file;    // from the root of the tree: "docs/do/bmc.md"
  std::string anchor;  // behind "#"
};

/// Of this tree: "https:" and the like are not.
std::vector<Link> links_of(const MarkdownPage& page) {
  static const std::regex kLink{R"re(\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)")re"};
  static const std::regex kElsewhere{R"(^[a-z]+:)"};
  std::vector<Link> links;
  for (const auto& [text, code] : page.lines) {
    if (code) continue;
    for (auto it = std::sregex_iterator{text.begin(), text.end(), kLink};
         it != std::sregex_iterator{}; ++it) {
      const auto written = (*it)[1].matched ? (*it)[1].str() : (*it)[2].str();
      if (std::regex_search(written, kElsewhere)) continue;
      const auto sign = std::min(written.find('#'), written.size());
      const auto folder = fs::path{page.name}.parent_path();
      auto file = sign == 0 ? fs::path{page.name} : folder / written.substr(0, sign);
      links.push_back({written, file.lexically_normal().string(),
                       sign < written.size() ? written.substr(sign + 1) : ""});
    }
  }
  return links;
}

TEST(Documents, EachLinkLeadsToAFileAndAHeadingThatExist) {
  std::map<std::string, Names> anchors;
  for (const auto& page : pages()) anchors[page.name] = anchors_of(page);
  std::size_t links = 0;
  for (const auto& page : pages())
    for (const auto& link : links_of(page)) {
      ++links;
      EXPECT_TRUE(fs::exists(fs::path{SOURCE_DIR} / link.file))
          << page.name << " links to " << link.written << ", which is not there";
      const auto headings = anchors.find(link.file);
      if (link.anchor.empty() || headings == anchors.end()) continue;
      EXPECT_TRUE(headings->second.contains(link.anchor))
          << page.name << " links to " << link.written << ", and there is no such heading";
    }
  EXPECT_GT(links, 300u);
}

TEST(Documents, EachPageIsReachedFromTheReadme) {
  std::map<std::string, const MarkdownPage*> by_name;
  for (const auto& page : pages()) by_name[page.name] = &page;
  std::vector<std::string> todo{"README.md"};
  Names reached{"README.md"};
  while (!todo.empty()) {
    const auto page = by_name.at(todo.back());
    todo.pop_back();
    for (const auto& link : links_of(*page))
      for (const auto& name : {link.file, (fs::path{link.file} / "README.md").string()})
        if (by_name.contains(name) && reached.insert(name).second) todo.push_back(name);
  }
  for (const auto& page : pages())
    EXPECT_TRUE(reached.contains(page.name)) << "no link leads to " << page.name;
}

TEST(Documents, PagesLieInTheFolderOfWhatAReaderWants) {
  const Names folders{"start", "do", "know", "build", "api", "images"};
  for (const auto& entry : fs::directory_iterator{fs::path{SOURCE_DIR} / "docs"}) {
    const auto name = entry.path().filename().string();
    EXPECT_TRUE(name == "README.md" || folders.contains(name))
        << "docs/" << name << ": put it into start, do, know, build or api";
  }
}

/// What it prints; empty where it cannot be started.
std::string printed_by(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{::popen(command.c_str(), "r"), ::pclose};
  std::string text;
  char piece[4096];
  while (pipe != nullptr) {
    const auto got = std::fread(piece, 1, sizeof piece, pipe.get());
    if (got == 0) break;
    text.append(piece, got);
  }
  return text;
}

TEST(Documents, TheListOfPagesIsWhatItsScriptPrints) {
  EXPECT_EQ(text_of(fs::path{SOURCE_DIR} / "docs/README.md"),
            printed_by("bash '" SOURCE_DIR "/scripts/docs-index' --print"))
      << "run scripts/docs-index";
}

TEST(Documents, TheDrawingOfTheRoomsIsWhatItsScriptPrints) {
  EXPECT_EQ(text_of(fs::path{SOURCE_DIR} / "docs/images/architecture.svg"),
            printed_by("bash '" SOURCE_DIR "/scripts/architecture' --print"))
      << "run scripts/architecture";
}

/// Of what is compiled, shipped or run: a page that moved is named in errors and comments, too.
bool names_pages(const fs::path& file) {
  static const Names kEndings{".cpp", ".h",   ".yaml", ".sh", ".cmake", ".txt",
                              ".cu",  ".mjs", ".ts",   ".py", ".awk",   ".service"};
  return kEndings.contains(file.extension().string()) || !file.has_extension();
}

void expect_named_pages_exist(const fs::path& file) {
  static const std::regex kPage{R"(\bdocs/[a-z0-9/-]+\.md\b)"};
  const auto text = text_of(file);
  if (text.find("docs/") == text.npos) return;  // regular expressions are slow
  for (auto it = std::sregex_iterator{text.begin(), text.end(), kPage};
       it != std::sregex_iterator{}; ++it)
    EXPECT_TRUE(fs::exists(fs::path{SOURCE_DIR} / it->str()))
        << file << " names " << it->str() << ", which is not there";
}

TEST(Documents, EachPageThatASourceNamesExists) {
  for (const auto* folder : {"base", "bmc", "burnin", "cmake", "inventory", "orchestrator",
                             "playbooks", "rehearsal", "scripts", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator{fs::path{SOURCE_DIR} / folder})
      if (entry.is_regular_file() && names_pages(entry.path()))
        expect_named_pages_exist(entry.path());
}

/// All literals of what is shipped, those that stand beside each other as one text.
std::string literals() {
  std::string all;
  for (const auto* room : {"base", "bmc", "burnin", "inventory", "orchestrator", "playbooks"})
    for (const auto& entry : fs::recursive_directory_iterator{fs::path{SOURCE_DIR} / room})
      if (entry.path().extension() == ".cpp") all += text_of(entry.path());
  std::string joined;
  for (std::size_t at = 0; at < all.size(); ++at) {
    const auto next = all[at] == '"' ? all.find_first_not_of(" \n", at + 1) : all.npos;
    const bool beside = next != all.npos && all[next] == '"' && next > at + 1;
    if (beside)
      at = next;
    else
      joined += all[at];
  }
  return joined;
}

/// What stands between backticks in a text, parted at "...", which is for names and numbers.
std::vector<std::string> messages_in(const std::string& cell) {
  static const std::regex kPiece{R"(`([^`]*)`)"}, kValue{R"(\.\.\.)"};
  std::vector<std::string> found;
  for (auto it = std::sregex_iterator{cell.begin(), cell.end(), kPiece};
       it != std::sregex_iterator{}; ++it) {
    const auto message = (*it)[1].str();
    for (auto piece = std::sregex_token_iterator{message.begin(), message.end(), kValue, -1};
         piece != std::sregex_token_iterator{}; ++piece) {
      auto text = piece->str();
      text.erase(0, text.find_first_not_of(" :,;()"));
      text.erase(text.find_last_not_of(" :,;()") + 1);
      if (text.size() >= 8) found.push_back(text);  // shorter ones prove nothing
    }
  }
  return found;
}

TEST(Documents, EachMessageOfTheTroubleshootingIsPrintedSomewhere) {
  const auto page = read_markdown(fs::path{SOURCE_DIR} / "docs/do/troubleshooting.md");
  const auto printed = literals();
  int messages = 0;
  for (const auto& [text, code] : page.lines) {
    if (code || !text.starts_with("| ")) continue;
    for (const auto& message : messages_in(text.substr(0, text.find(" | ")))) {
      ++messages;
      EXPECT_NE(printed.find(message), printed.npos) << "no source has: " << message;
    }
  }
  EXPECT_GT(messages, 15);
}

TEST(Documents, TheReadmeIsReadInMinutes) {
  const auto text = text_of(fs::path{SOURCE_DIR} / "README.md");
  EXPECT_LE(std::ranges::count(text, '\n'), 120);
  EXPECT_NE(text.find("<picture>"), text.npos);
}

}  // namespace
}  // namespace cupel::testing
