#include "burnin/agent/node/stages/file_lines.h"

#include <algorithm>

#include "base/text.h"

namespace cupel::agent {

void FileLines::add(const std::string& path, std::size_t most) { add_with(path, {""}, most); }

void FileLines::add_with(const std::string& path, const std::vector<std::string_view>& any_of,
                         std::size_t most) {
  const auto all = tree_.bytes(path, most);
  if (!all) return;
  for (const auto line : lines(*all)) {
    const bool needed =
        std::ranges::any_of(any_of, [&](auto word) { return line.find(word) != line.npos; });
    if (needed && !trimmed(line).empty()) add_line(path + ":" + std::string{line});
  }
}

void FileLines::add_line(std::string_view line) {
  cut_ = cut_ || text_.size() + line.size() >= kMost;
  if (!cut_) text_.append(line).push_back('\n');
}

void FileLines::print(StageLines& lines, std::string_view name, std::string_view part) const {
  lines.evidence(name, part, Command{}, Ran{.status = 0, .out = text_, .cut = cut_});
}

std::vector<std::string> numbered(const Tree& tree, std::string_view folder,
                                  std::string_view begins) {
  auto names = tree.names(folder);
  std::erase_if(names, [&](const std::string& name) {
    return !name.starts_with(begins) || name.size() == begins.size() || name[begins.size()] < '0' ||
           name[begins.size()] > '9';
  });
  return names;
}

}  // namespace cupel::agent
