// Words that texts for people do not have: machines report, accept and reject; they do not tell,
// believe or know strangers. Read are docs/, README.md and the string literals of what is shipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace cupel {
namespace {

namespace fs = std::filesystem;

/// Each with the word to use.
struct Forbidden {
  std::string_view word;
  std::string_view instead;
};

constexpr auto kForbidden = std::to_array<Forbidden>({
    {"told", "reported, printed, listed"},
    {"untold", "not reported"},
    {"nobody", "no user, no node, not ..."},
    {"somebody", "an operator, another user"},
    {"whoever", "name who"},
    {"believe", "accept, use, verify"},
    {"believes", "accepts, uses, verifies"},
    {"believed", "accepted, used, verified"},
    {"stranger", "another machine; identity mismatch"},
    {"strangers", "other machines"},
    {"hands", "operator, repair, action"},
});

/// Texts that no person reads, and the verb "to hand".
struct Exception {
  std::string_view file;  // how its path begins
  std::string_view text;  // what the text has
};

constexpr auto kExceptions = std::to_array<Exception>({
    {"burnin/", "cupel-all-told"},                 // the end of a script's output
    {"burnin/", "cupel-kernel-log: told"},         // the same
    {"burnin/settings/", "$folder/told"},          // a file of the script
    {"orchestrator/engine/", "strangers"},         // a key of snapshots
    {"orchestrator/engine/", "untold"},            // a value in the journal
    {"orchestrator/netboot/", "--user=nobody"},    // a name of the system's
    {"orchestrator/record/", "untold"},            // the same
    {"orchestrator/record/", "hands"},             // a key of the journal
    {"orchestrator/steps/", "hands"},              // the same
    {"orchestrator/store/", "believed"},           // a column of the store
    {"orchestrator/", "hands_until"},              // a key of controller.json
    {"docs/build/decisions/", "hands a session"},  // the verb
    {"docs/build/decisions/", "hands over"},       // the verb
});

bool is_of_a_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool has_word(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), word.begin(), word.end(), same);
    if (at == text.end()) return false;
    const auto end = at + static_cast<std::ptrdiff_t>(word.size());
    const bool whole =
        (at == text.begin() || !is_of_a_word(at[-1])) && (end == text.end() || !is_of_a_word(*end));
    if (whole) return true;
  }
}

void expect_plain(const std::string& file, int line, std::string_view text) {
  for (const auto& [word, instead] : kForbidden) {
    if (!has_word(text, word)) continue;
    const bool allowed = std::ranges::any_of(kExceptions, [&](const Exception& each) {
      return file.starts_with(each.file) && text.find(each.text) != text.npos;
    });
    EXPECT_TRUE(allowed) << file << ":" << line << ": '" << word << "' in \"" << text
                         << "\": " << instead;
  }
}

/// Without what stands between backticks.
std::string prose_of(std::string_view line) {
  std::string prose;
  bool code = false;
  for (const char c : line) {
    if (c == '`') code = !code;
    if (!code) prose += c;
  }
  return prose;
}

void check_page(const fs::path& path) {
  const auto name = fs::relative(path, SOURCE_DIR).string();
  std::ifstream file{path};
  bool block = false;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("```")) block = !block;
    if (!block) expect_plain(name, number, prose_of(line));
  }
}

/// The string literals of a line of C++; none behind "//".
std::vector<std::string> literals_of(std::string_view line) {
  std::vector<std::string> found;
  bool inside = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (!inside && line.substr(at, 2) == "//") return found;
    if (!inside && line.substr(at, 3) == "'\"'") {
      at += 2;
      continue;
    }
    if (c == '\\' && inside) {
      ++at;
    } else if (c == '"') {
      inside = !inside;
      if (inside) found.emplace_back();
    } else if (inside) {
      found.back() += c;
    }
  }
  return found;
}

void check_source(const fs::path& path) {
  const auto name = fs::relative(path, SOURCE_DIR).string();
  std::ifstream file{path};
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("#include")) continue;
    for (const auto& literal : literals_of(line)) expect_plain(name, number, literal);
  }
}

TEST(Words, OfTheDocumentsAreTheFields) {
  check_page(fs::path{SOURCE_DIR} / "README.md");
  int pages = 0;
  for (const auto& entry : fs::recursive_directory_iterator{fs::path{SOURCE_DIR} / "docs"})
    if (entry.path().extension() == ".md") {
      check_page(entry.path());
      ++pages;
    }
  EXPECT_GT(pages, 20);
}

TEST(Words, OfHelpAndErrorsAreTheFields) {
  int files = 0;
  for (const auto* room : {"base", "bmc", "burnin", "inventory", "orchestrator", "playbooks"})
    for (const auto& entry : fs::recursive_directory_iterator{fs::path{SOURCE_DIR} / room}) {
      const auto path = fs::relative(entry.path(), SOURCE_DIR).string();
      // What runs on nodes prints for programs.
      const bool other = path.starts_with("burnin/agent/");
      if (entry.path().extension() != ".cpp" || other) continue;
      check_source(entry.path());
      ++files;
    }
  EXPECT_GT(files, 300);
}

}  // namespace
}  // namespace cupel
