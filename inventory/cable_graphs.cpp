#include "inventory/cable_graphs.h"

#include <optional>

#include "base/text.h"
#include "inventory/seen_fabric.h"
#include "inventory/sheet.h"

namespace cupel::inventory {
namespace {

using Problems = std::vector<Problem>;

int column_in(std::string_view line, std::string_view part) {
  return static_cast<int>(part.data() - line.data()) + 1;
}

/// `"n01":"mlx5_0"`, n01:mlx5_0; the name of a port may have colons in quotes alone.
struct DotEnd {
  std::string device{};
  std::string port{};
};
std::optional<DotEnd> dot_end(std::string_view text) {
  const auto take = [&](std::string_view stops) -> std::string {
    text = trimmed(text);
    const bool quoted = text.starts_with('"');
    if (quoted) text.remove_prefix(1);
    const auto end = quoted ? text.find('"') : text.find_first_of(stops);
    auto word = printable(trimmed(text.substr(0, end)));
    text.remove_prefix(end == text.npos ? text.size() : end + (quoted ? 1 : 0));
    text = trimmed(text);
    return word;
  };
  DotEnd found;
  found.device = take(":");
  if (!text.starts_with(':')) return std::nullopt;
  text.remove_prefix(1);
  found.port = take(" \t[;");
  if (found.device.empty() || found.port.empty()) return std::nullopt;
  return found;
}

/// What stands after the first end: "-- " or "-> ".
std::size_t arrow_in(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (!quoted && line[i] == '-' && (line[i + 1] == '-' || line[i + 1] == '>')) return i;
  }
  return line.npos;
}

/// The piece in braces at which `text` begins, braces within it included; `text` becomes the rest.
std::optional<std::string_view> braced(std::string_view& text) {
  text = trimmed(text);
  if (!text.starts_with('{')) return std::nullopt;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    if (depth > 0) continue;
    const auto inside = text.substr(1, i - 1);
    text.remove_prefix(i + 1);
    return inside;
  }
  return std::nullopt;
}

/// Of one end: a switch by its name, an HCA by what its node description says.
std::optional<DotEnd> lst_end(std::string_view inside) {
  const bool is_switch = trimmed(inside).starts_with("SW");
  const auto open = inside.find('{'), close = inside.find('}');
  const auto number_at = inside.rfind("PN:");
  if (open == inside.npos || close == inside.npos || close < open || number_at == inside.npos)
    return std::nullopt;
  const auto description = printable(trimmed(inside.substr(open + 1, close - open - 1)));
  const auto parts = words(inside.substr(number_at + 3));
  // ibdiagnet writes the numbers of ports in hexadecimal digits.
  std::uint64_t port = 0;
  if (parts.empty() || parts.front().size() > 2) return std::nullopt;
  for (const char digit : lower_case(parts.front())) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto value = kDigits.find(digit);
    if (value == kDigits.npos) return std::nullopt;
    port = port * kDigits.size() + value;
  }
  if (is_switch) return DotEnd{switch_name(description), std::to_string(port)};
  const auto names = words(description);
  if (names.size() != 2) return std::nullopt;
  return DotEnd{std::string{names[0]}, std::string{names[1]} + "/" + std::to_string(port)};
}

CableRow row_of(DotEnd one, DotEnd other, Place where) {
  CableRow row{.from = std::move(one.device),
               .from_port = std::move(one.port),
               .to = std::move(other.device),
               .to_port = std::move(other.port)};
  row.from_column = row.to_column = where.column;
  row.where = std::move(where);
  return row;
}

/// What stops the reading of a file.
class Limits {
 public:
  Limits(const std::vector<CableRow>& rows, Problems& problems)
      : rows_{rows}, problems_{problems}, before_{problems.size()} {}
  bool reached() const { return rows_.size() > kMostCables || is_hopeless(); }
  void say(const std::string& file, int line) {
    if (is_hopeless()) problems_.push_back({{file, line, 1}, too_many_bad_rows()});
  }

 private:
  bool is_hopeless() const { return problems_.size() - before_ >= kMostBadRows; }

  const std::vector<CableRow>& rows_;
  Problems& problems_;
  std::size_t before_;
};

}  // namespace

void read_topo(std::string_view text, const std::string& file, std::vector<CableRow>& rows,
               Problems& problems) {
  Limits limits{rows, problems};
  std::string system;
  int line = 0;
  for (const auto whole : lines(text)) {
    if (limits.reached()) break;
    ++line;
    const auto raw = whole.substr(0, whole.find('#'));
    const auto parts = words(raw);
    if (parts.empty()) continue;
    const bool indented = raw.front() == ' ' || raw.front() == '\t';
    if (!indented) {
      system = parts.size() > 1 ? printable(parts[1]) : std::string{};
      if (parts.size() < 2)
        problems.push_back({{file, line, 1}, "a system needs a type and a name: MQM9700 leaf1"});
      continue;
    }
    const int column = column_in(whole, parts[0]);
    if (parts.size() < 5 || !parts[1].ends_with("->") || system.empty()) {
      problems.push_back(
          {{file, line, column}, "a link is PORT -> TYPE NAME PORT, below its system"});
      continue;
    }
    auto row = row_of({system, printable(parts[0])}, {printable(parts[3]), printable(parts[4])},
                      {file, line, column});
    row.to_column = column_in(whole, parts[4]);
    for (const auto mark : split(parts[1].substr(0, parts[1].size() - 2), '-'))
      if (!mark.empty() && mark.back() != 'x' && mark.back() != 'X') row.speed = printable(mark);
    rows.push_back(std::move(row));
  }
  limits.say(file, line);
}

void read_dot(std::string_view text, const std::string& file, std::vector<CableRow>& rows,
              Problems& problems) {
  Limits limits{rows, problems};
  int line = 0;
  bool comment = false;
  for (const auto whole : lines(text)) {
    if (limits.reached()) break;
    ++line;
    auto bare = trimmed(whole);
    if (bare.starts_with("/*")) comment = true;
    if (comment) {
      comment = bare.find("*/") == bare.npos;
      continue;
    }
    if (bare.empty() || bare.starts_with("//") || bare.starts_with('#')) continue;
    const auto arrow = arrow_in(whole);
    // "graph G {", attributes, "}" and nodes alone.
    if (arrow == whole.npos) continue;
    auto one = dot_end(whole.substr(0, arrow)), other = dot_end(whole.substr(arrow + 2));
    if (!one || !other) {
      problems.push_back({{file, line, column_in(whole, bare)},
                          "a cable is \"DEVICE\":\"PORT\" -- \"DEVICE\":\"PORT\""});
      continue;
    }
    rows.push_back(
        row_of(*std::move(one), *std::move(other), {file, line, column_in(whole, bare)}));
  }
  limits.say(file, line);
}

void read_lst(std::string_view text, const std::string& file, std::vector<CableRow>& rows,
              Problems& problems) {
  Limits limits{rows, problems};
  int line = 0;
  for (const auto whole : lines(text)) {
    if (limits.reached()) break;
    ++line;
    auto rest = whole;
    if (trimmed(rest).empty()) continue;
    const auto first = braced(rest), second = braced(rest);
    auto one = first ? lst_end(*first) : std::nullopt;
    auto other = second ? lst_end(*second) : std::nullopt;
    if (!one || !other) {
      problems.push_back({{file, line, 1},
                          "a link of ibdiagnet is { CA ... {NODE HCA} ... PN:01 } { SW ... "
                          "{SWITCH} ... PN:08 }"});
      continue;
    }
    rows.push_back(row_of(*std::move(one), *std::move(other), {file, line, 1}));
  }
  limits.say(file, line);
}

}  // namespace cupel::inventory
