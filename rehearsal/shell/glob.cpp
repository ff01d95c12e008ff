// Patterns: POSIX XCU 2.13.
#include "base/text.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/shell/shell.h"

namespace cupel::rehearsal {
namespace {

bool in_class(std::string_view name, char c) {
  const auto u = static_cast<unsigned char>(c);
  if (name == "digit") return std::isdigit(u);
  if (name == "alpha") return std::isalpha(u);
  if (name == "alnum") return std::isalnum(u);
  if (name == "space") return std::isspace(u);
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "upper") return std::isupper(u);
  if (name == "lower") return std::islower(u);
  if (name == "punct") return std::ispunct(u);
  if (name == "xdigit") return std::isxdigit(u);
  return false;
}

/// One [...] at the pattern's start. Nothing where it is not closed: then '[' stands for itself.
std::optional<bool> bracket(std::string_view& pattern, char c) {
  auto rest = pattern.substr(1);
  bool inverted = false;
  if (rest.starts_with('!') || rest.starts_with('^')) {
    inverted = true;
    rest.remove_prefix(1);
  }
  bool hit = false;
  for (bool first = true;; first = false) {
    if (rest.empty()) return std::nullopt;
    if (rest.front() == ']' && !first) break;
    if (rest.starts_with("[:")) {
      const auto end = rest.find(":]");
      if (end != rest.npos) {
        hit |= in_class(rest.substr(2, end - 2), c);
        rest.remove_prefix(end + 2);
        continue;
      }
    }
    if (rest.front() == '\\' && rest.size() > 1) rest.remove_prefix(1);
    const char low = rest.front();
    rest.remove_prefix(1);
    char high = low;
    if (rest.size() >= 2 && rest[0] == '-' && rest[1] != ']') {
      rest.remove_prefix(1);
      if (rest.front() == '\\' && rest.size() > 1) rest.remove_prefix(1);
      high = rest.front();
      rest.remove_prefix(1);
    }
    hit |= c >= low && c <= high;
  }
  pattern = rest.substr(1);
  return hit != inverted;
}

bool has_magic(const Field& field) {
  for (std::size_t i = 0; i < field.text.size(); ++i)
    if (field.mask[i] != 'q' && std::string_view{"*?["}.contains(field.text[i])) return true;
  return false;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  // With one place to come back to: linear in practice, never exponential.
  std::string_view star_pattern, star_text;
  bool starred = false;
  for (;;) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      star_pattern = pattern;
      star_text = text;
      starred = true;
      continue;
    }
    if (text.empty() && pattern.empty()) return true;
    bool hit = false;
    if (!text.empty() && !pattern.empty()) {
      const char p = pattern.front();
      std::optional<bool> in_set;
      if (p == '[') in_set = bracket(pattern, text.front());
      if (in_set) {
        hit = *in_set;
      } else if (p == '?') {
        hit = true;
        pattern.remove_prefix(1);
      } else {
        const bool escaped = p == '\\' && pattern.size() > 1;
        hit = pattern[escaped ? 1 : 0] == text.front();
        pattern.remove_prefix(escaped ? 2 : 1);
      }
    }
    if (hit) {
      text.remove_prefix(1);
      continue;
    }
    if (!starred || star_text.empty()) return false;
    star_text.remove_prefix(1);
    text = star_text;
    pattern = star_pattern;
  }
}

std::vector<std::string> Shell::globbed(const Field& field) const {
  if (noglob || !has_magic(field)) return {field.text};
  constexpr std::size_t kMost = 4096;
  std::string escaped;
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    if (field.mask[i] == 'q' && std::string_view{"*?[]\\-!^"}.contains(field.text[i]))
      escaped += '\\';
    escaped += field.text[i];
  }
  std::vector<std::string> found{escaped.starts_with('/') ? "/" : ""};
  for (const auto part : split(escaped, '/')) {
    if (part.empty()) continue;
    std::vector<std::string> next;
    for (const auto& base : found) {
      const auto folder = process->disk().find(process->path(base.empty() ? "." : base));
      if (!folder || !folder->is_folder()) continue;
      const auto join = [&](const std::string& name) {
        return base.empty() || base.ends_with('/') ? base + name : base + "/" + name;
      };
      if (part == "." || part == "..") {
        next.push_back(join(std::string{part}));
        continue;
      }
      for (const auto& [name_of, node] : folder->entries) {
        if (name_of.starts_with('.') && !part.starts_with('.')) continue;
        if (next.size() < kMost && matches(part, name_of)) next.push_back(join(name_of));
      }
    }
    found = std::move(next);
  }
  if (found.empty()) return {field.text};
  std::ranges::sort(found);
  return found;
}

}  // namespace cupel::rehearsal
