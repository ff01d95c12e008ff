#include "burnin/node/printed_tree.h"

#include <algorithm>
#include <charconv>

#include "base/pci_vpd.h"
#include "base/text.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostLines = 200'000;
constexpr std::string_view kVpd = "cupel-vpd: ";

/// Nothing where it is no hexadecimal, or more than a VPD can have.
std::optional<std::string> bytes_of(std::string_view digits) {
  if (digits.empty() || digits.size() % 2 != 0 || digits.size() / 2 > kMostVpd) return std::nullopt;
  std::string bytes;
  for (; !digits.empty(); digits.remove_prefix(2)) {
    unsigned value = 0;
    const auto* end = digits.data() + 2;
    const auto [stop, failure] = std::from_chars(digits.data(), end, value, 16);
    if (failure != std::errc{} || stop != end) return std::nullopt;
    bytes += static_cast<char>(value);
  }
  return bytes;
}

}  // namespace

PrintedTree::PrintedTree(std::string_view text) {
  std::size_t count = 0;
  for (const auto line : lines(text)) {
    if (line.starts_with(kVpd)) take_vpd(line.substr(kVpd.size()));
    if (!line.starts_with("/proc/") && !line.starts_with("/sys/")) continue;
    if (count++ == kMostLines) break;
    take_line(line);
  }
}

void PrintedTree::take_line(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == line.npos) return;
  auto& content = files_[std::string{line.substr(0, colon)}];
  content.append(line.substr(colon + 1)).append("\n");
}

void PrintedTree::take_vpd(std::string_view line) {
  const auto blank = line.find(' ');
  if (blank == line.npos || blank == 0 || line.substr(0, blank).contains('/')) return;
  auto bytes = bytes_of(line.substr(blank + 1));
  const auto hca = std::string{line.substr(0, blank)};
  if (bytes) files_.emplace("/sys/class/infiniband/" + hca + "/device/vpd", *std::move(bytes));
}

std::optional<std::string> PrintedTree::bytes(std::string_view path, std::size_t most) const {
  const auto found = files_.find(path);
  return found == files_.end() ? std::nullopt : std::optional{found->second.substr(0, most)};
}

std::vector<std::string> PrintedTree::names(std::string_view folder) const {
  const auto prefix = std::string{folder} + "/";
  std::vector<std::string> found;
  for (auto file = files_.lower_bound(prefix);
       file != files_.end() && file->first.starts_with(prefix) && found.size() < kMostNames;) {
    const auto rest = std::string_view{file->first}.substr(prefix.size());
    auto name = std::string{rest.substr(0, rest.find('/'))};
    // What comes behind everything below it: '0' follows '/'.
    const auto behind = prefix + name + (rest.size() == name.size() ? std::string(1, '\0') : "0");
    if (!name.empty() && (found.empty() || found.back() != name)) found.push_back(std::move(name));
    file = files_.lower_bound(behind);
  }
  std::ranges::sort(found, agent::comes_before);
  const auto same = std::ranges::unique(found);
  found.erase(same.begin(), same.end());
  return found;
}

std::optional<std::string> PrintedTree::resolved(std::string_view) const { return std::nullopt; }

bool PrintedTree::exists(std::string_view path) const {
  if (files_.contains(path)) return true;
  const auto below = std::string{path} + "/";
  const auto first = files_.lower_bound(below);
  return first != files_.end() && first->first.starts_with(below);
}

}  // namespace cupel::burnin
