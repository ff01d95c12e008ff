#pragma once
// The Markdown files of the tree, line by line, with what is a block of code.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace cupel::testing {

struct MarkdownLine {
  std::string text;
  bool code = false;  // between ``` and ```
};

struct MarkdownPage {
  std::string name;  // "docs/do/bmc.md"
  std::vector<MarkdownLine> lines;
};

inline MarkdownPage read_markdown(const std::filesystem::path& file) {
  MarkdownPage page{.name = file.lexically_relative(SOURCE_DIR).string(), .lines = {}};
  std::ifstream stream{file};
  bool code = false;
  for (std::string line; std::getline(stream, line);) {
    const auto begin = line.find_first_not_of(' ');
    const bool fence = begin != line.npos && line.compare(begin, 3, "```") == 0;
    if (fence)
      code = !code;
    else
      page.lines.push_back({line, code});
  }
  return page;
}

/// All of the tree, but what was built and what is hidden.
inline std::vector<MarkdownPage> markdown_pages() {
  std::vector<MarkdownPage> pages;
  std::filesystem::recursive_directory_iterator entry{SOURCE_DIR};
  for (; entry != std::filesystem::recursive_directory_iterator{}; ++entry) {
    const auto name = entry->path().filename().string();
    if (name == "build" && entry.depth() == 0) entry.disable_recursion_pending();
    if (name.starts_with('.')) entry.disable_recursion_pending();
    if (entry->path().extension() == ".md") pages.push_back(read_markdown(entry->path()));
  }
  return pages;
}

}  // namespace cupel::testing
