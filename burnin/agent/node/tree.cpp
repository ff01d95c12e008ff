#include "burnin/agent/node/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cmath>
#include <cstdlib>

#include "base/text.h"

namespace cupel::agent {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<unsigned> hexadecimal(std::string_view text, std::size_t most_digits) {
  unsigned value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value, 16);
  const bool whole = failure == std::errc{} && stop == end && !text.empty();
  return whole && text.size() <= most_digits ? std::optional{value} : std::nullopt;
}

}  // namespace

Tree::Tree(std::string root) : root_{std::move(root)} {
  while (root_.ends_with('/')) root_.pop_back();
}

std::string Tree::real(std::string_view path) const { return root_ + std::string{path}; }

std::optional<std::string> Tree::bytes(std::string_view path, std::size_t most) const {
  // A FIFO or a device in a place where a file should be must not hold us.
  const int file = ::open(real(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::string text;
  char buffer[8192];
  while (text.size() < most) {
    const auto got = ::read(file, buffer, std::min(sizeof buffer, most - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && text.empty()) {
      ::close(file);
      return std::nullopt;
    }
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(file);
  return text;
}

std::optional<std::string> Tree::text(std::string_view path) const {
  const auto all = bytes(path);
  if (!all) return std::nullopt;
  // Firmware pads its words with zeros.
  auto kept = trimmed(*all);
  while (kept.ends_with('\0')) kept.remove_suffix(1);
  kept = trimmed(kept);
  return kept.empty() ? std::nullopt : std::optional{std::string{kept}};
}

std::optional<double> Tree::number(std::string_view path) const {
  const auto reported = text(path);
  return reported ? number_in(*reported) : std::nullopt;
}

std::vector<std::string> Tree::names(std::string_view folder) const {
  std::vector<std::string> found;
  DIR* open = ::opendir(real(folder).c_str());
  if (open == nullptr) return found;
  while (found.size() < kMostNames) {
    const auto* entry = ::readdir(open);
    if (entry == nullptr) break;
    if (entry->d_name[0] != '.') found.emplace_back(entry->d_name);
  }
  ::closedir(open);
  std::ranges::sort(found, comes_before);
  return found;
}

std::optional<std::string> Tree::resolved(std::string_view path) const {
  char where[PATH_MAX];
  if (::realpath(real(path).c_str(), where) == nullptr) return std::nullopt;
  std::string_view found{where};
  char top[PATH_MAX];
  if (!root_.empty() && ::realpath(root_.c_str(), top) != nullptr) {
    if (!found.starts_with(top)) return std::nullopt;
    found.remove_prefix(std::string_view{top}.size());
  }
  return std::string{found};
}

bool Tree::exists(std::string_view path) const { return ::access(real(path).c_str(), F_OK) == 0; }

std::optional<TreeEntry> Tree::entry(std::string_view path) const {
  struct stat found{};
  if (::lstat(real(path).c_str(), &found) != 0) return std::nullopt;
  const char kind = S_ISREG(found.st_mode)   ? '-'
                    : S_ISDIR(found.st_mode) ? 'd'
                    : S_ISLNK(found.st_mode) ? 'l'
                                             : '?';
  return TreeEntry{kind, found.st_mode & 07777, found.st_uid};
}

unsigned Tree::user() const { return ::geteuid(); }

std::optional<double> number_in(std::string_view text) {
  text = trimmed(text);
  if (text.empty()) return std::nullopt;
  if (text.starts_with("0x")) {
    std::uint64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data() + 2, end, value, 16);
    const bool whole = failure == std::errc{} && stop == end;
    return whole ? std::optional{static_cast<double>(value)} : std::nullopt;
  }
  const auto value = cupel::number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::string_view last_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

std::optional<std::string> pci_address(std::string_view text) {
  std::string_view function = "0";
  const auto dot = text.find('.');
  if (dot != text.npos) {
    function = text.substr(dot + 1);
    text = text.substr(0, dot);
  }
  const auto last = text.rfind(':');
  if (last == text.npos) return std::nullopt;
  const auto device = hexadecimal(text.substr(last + 1), 2);
  auto rest = text.substr(0, last);
  const auto first = rest.rfind(':');
  const auto bus = hexadecimal(first == rest.npos ? rest : rest.substr(first + 1), 2);
  const auto domain =
      first == rest.npos ? std::optional{0u} : hexadecimal(rest.substr(0, first), 8);
  const auto which = hexadecimal(function, 1);
  if (!device || !bus || !domain || !which || *device > 31 || *which > 7) return std::nullopt;
  char written[32];
  std::snprintf(written, sizeof written, "%04x:%02x:%02x.%x", *domain, *bus, *device, *which);
  return std::string{written};
}

bool comes_before(std::string_view left, std::string_view right) {
  std::size_t i = 0, j = 0;
  while (i < left.size() && j < right.size()) {
    if (!is_digit(left[i]) || !is_digit(right[j])) {
      if (left[i] != right[j]) return left[i] < right[j];
      ++i, ++j;
      continue;
    }
    const auto digits = [](std::string_view text, std::size_t& at) {
      const auto begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      auto run = text.substr(begin, at - begin);
      while (run.size() > 1 && run.front() == '0') run.remove_prefix(1);
      return run;
    };
    const auto one = digits(left, i), other = digits(right, j);
    if (one.size() != other.size()) return one.size() < other.size();
    if (one != other) return one < other;
  }
  return left.size() - i < right.size() - j;
}

}  // namespace cupel::agent
