#include "inventory/cable_header.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/enum_words.h"
#include "base/text.h"

namespace cupel::inventory {
namespace {

using enum CableColumn;

std::optional<CableColumn> exact_column(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, CableColumn>, 28> kNames{
      {{"startdevice", from},
       {"startport", from_port},
       {"enddevice", to},
       {"endport", to_port},
       {"a-node name", from},
       {"a-port", from_port},
       {"z-node name", to},
       {"z-port", to_port},
       {"a-node", from},
       {"z-node", to},
       {"speed", speed},
       {"cable length", length},
       {"length", length},
       {"cable type", type},
       {"startdevicelocation", from_place},
       {"enddevicelocation", to_place},
       {"a-rack", from_place},
       {"z-rack", to_place},
       {"cable serial", serial},
       {"cableserial", serial},
       {"a-module", from_model},
       {"startmodule", from_model},
       {"a-serial", from_serial},
       {"startserial", from_serial},
       {"z-module", to_model},
       {"endmodule", to_model},
       {"z-serial", to_serial},
       {"endserial", to_serial}}};
  auto lower = lower_case(trimmed(name));
  if (const auto mark = lower.find("#fields:"); mark != lower.npos) lower.erase(0, mark + 8);
  if (lower.starts_with('#')) lower.erase(0, 1);
  for (const auto& [word, column] : kNames)
    if (word == lower) return column;
  return std::nullopt;
}

enum class Side { none, one, other };
enum class Field { none, device, name, port, place, model, serial, length, type, speed };

struct Meaning {
  Side side = Side::none;
  Field field = Field::none;
};

/// "SourceDevice", "side_a_device" and "HCA/Port" as words.
std::vector<std::string> words_of(std::string_view cell) {
  std::string text;
  for (std::size_t i = 0; i < cell.size(); ++i) {
    const auto is_between = [&](char first, char last) {
      return cell[i] >= first && cell[i] <= last;
    };
    const bool of_tor = cell.substr(0, i + 1).ends_with("ToR") &&
                        (i + 1 == cell.size() || cell[i + 1] < 'a' || cell[i + 1] > 'z');
    const bool begins_word =
        is_between('A', 'Z') && i > 0 && cell[i - 1] >= 'a' && cell[i - 1] <= 'z' && !of_tor;
    if (begins_word) text += ' ';
    text += is_between('A', 'Z') || is_between('a', 'z') || is_between('0', '9') ? cell[i] : ' ';
  }
  std::vector<std::string> all;
  for (const auto word : words(lower_case(text))) all.emplace_back(word);
  return all;
}

bool is_number(std::string_view word) { return word.find_first_not_of("0123456789") == word.npos; }

template <std::size_t N>
bool has_any(const std::vector<std::string>& all, const std::array<std::string_view, N>& some) {
  return std::ranges::any_of(
      all, [&](const auto& word) { return std::ranges::find(some, word) != some.end(); });
}

/// A letter or number of an end says more than "end": "B-End", "side_a".
Side side_of(const std::vector<std::string>& all) {
  constexpr std::array<std::string_view, 3> kOneMark{"a", "1", "aend"};
  constexpr std::array<std::string_view, 5> kOtherMark{"b", "z", "2", "bend", "zend"};
  constexpr std::array<std::string_view, 9> kOne{"source", "src",  "from", "start", "local",
                                                 "begin",  "near", "left", "origin"};
  constexpr std::array<std::string_view, 10> kOther{
      "destination", "dest", "dst", "to", "end", "remote", "far", "peer", "target", "right"};
  if (has_any(all, kOneMark)) return Side::one;
  if (has_any(all, kOtherMark)) return Side::other;
  if (has_any(all, kOne)) return Side::one;
  return has_any(all, kOther) ? Side::other : Side::none;
}

/// "From", "To", "A-End": what stands alone above a cell with device and port.
bool is_end_alone(const std::vector<std::string>& all) {
  constexpr std::array<std::string_view, 6> kWords{"source", "from",        "start",
                                                   "to",     "destination", "end"};
  constexpr std::size_t kMostWords = 2;
  return all.size() <= kMostWords && has_any(all, kWords);
}

Field field_of(const std::vector<std::string>& all) {
  constexpr std::array<std::string_view, 8> kPort{"port", "interface", "intf",  "termination",
                                                  "hca",  "nic",       "iface", "connector"};
  constexpr std::array<std::string_view, 9> kDevice{
      "device", "node", "host", "hostname", "switch", "system", "server", "machine", "equipment"};
  constexpr std::array<std::string_view, 3> kTier{"leaf", "spine", "tor"};
  constexpr std::array<std::string_view, 2> kPlace{"rack", "location"};
  constexpr std::array<std::string_view, 3> kModel{"module", "transceiver", "optic"};
  constexpr std::array<std::string_view, 1> kSerial{"serial"}, kLength{"length"}, kType{"type"},
      kSpeed{"speed"}, kName{"name"};
  if (has_any(all, kSerial)) return Field::serial;
  if (has_any(all, kModel)) return Field::model;
  if (has_any(all, kType)) return Field::type;
  if (has_any(all, kPlace)) return Field::place;
  if (has_any(all, kPort)) return Field::port;
  if (has_any(all, kDevice)) return Field::device;
  // "leaf-1" is a switch of the list itself.
  if (has_any(all, kTier) && std::ranges::none_of(all, is_number)) return Field::device;
  if (has_any(all, kName)) return Field::name;
  if (has_any(all, kLength)) return Field::length;
  return has_any(all, kSpeed) ? Field::speed : Field::none;
}

Meaning meaning_of(std::string_view cell) {
  constexpr std::size_t kMostWords = 5;  // more are a note
  const auto all = words_of(cell);
  if (all.empty() || all.size() > kMostWords) return {};
  return {side_of(all), field_of(all)};
}

std::optional<CableColumn> column_of(Side side, Field field) {
  const bool one = side == Side::one;
  switch (field) {
    case Field::device:
      return one ? from : to;
    case Field::port:
      return one ? from_port : to_port;
    case Field::place:
      return one ? from_place : to_place;
    case Field::model:
      return one ? from_model : to_model;
    case Field::serial:
      return one ? from_serial : to_serial;
    default:
      return std::nullopt;
  }
}

/// Of a column that is of the cable, and of no end.
std::optional<CableColumn> column_of_cable(Field field) {
  switch (field) {
    case Field::length:
      return length;
    case Field::type:
      return type;
    case Field::speed:
      return speed;
    case Field::serial:
      return serial;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::pair<ColumnNames, std::string> column_names(std::string_view text) {
  ColumnNames names;
  for (const auto piece : split(text, ',')) {
    const auto equals = piece.find('=');
    const auto word = trimmed(piece.substr(0, equals));
    const auto column = enum_of<CableColumn, '_'>(word);
    const auto name = equals == piece.npos ? std::string_view{} : trimmed(piece.substr(equals + 1));
    const bool twice =
        column && std::ranges::find(names, *column, &ColumnNames::value_type::first) != names.end();
    if (!column || name.empty() || twice)
      return {
          {},
          fmt::format("'{}' is not COLUMN=NAME: from=Host,from_port=NIC,to=Switch,to_port=Port; "
                      "other columns are speed, length, type, serial, from_place, to_place, "
                      "from_model, to_model, from_serial and to_serial, each once",
                      shortened(printable(trimmed(piece)), 80))};
    names.emplace_back(*column, std::string{name});
  }
  return std::pair{std::move(names), std::string{}};
}

CableHeader::CableHeader(const std::vector<std::string>& cells, const ColumnNames& given,
                         bool may_guess)
    : CableHeader{} {
  const auto named = [&](std::string_view cell) -> std::optional<CableColumn> {
    for (const auto& [column, name] : given)
      if (lower_case(name) == lower_case(cell)) return column;
    return std::nullopt;
  };
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (const auto column = named(cells[i]); column) put(*column, i);
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (const auto column = exact_column(cells[i]); column && !named(cells[i])) put(*column, i);
  if (may_guess && !absent().empty()) guess(cells);
}

void CableHeader::put(CableColumn column, std::size_t cell) {
  auto& at = at_[static_cast<std::size_t>(column)];
  if (at >= 0) return;  // of two tables side by side: the first
  at = static_cast<int>(cell);
  ++known_;
}

/// What the words of a header mean together; nothing changes where they are no whole header.
void CableHeader::guess(const std::vector<std::string>& cells) {
  CableHeader made = *this;
  std::array<std::size_t, 3> bare{};  // devices, ports and places without an end, so far
  std::vector<Meaning> meanings;
  for (const auto& cell : cells) meanings.push_back(meaning_of(cell));
  const auto has = [&](Side side, Field field) {
    return std::ranges::any_of(meanings,
                               [&](const auto& m) { return m.side == side && m.field == field; });
  };
  for (std::size_t i = 0; i < cells.size(); ++i) {
    auto [side, field] = meanings[i];
    // NetBox: side_a_device, and side_a_name of its interface.
    if (field == Field::name)
      field = side != Side::none && has(side, Field::device) ? Field::port : Field::device;
    // "Source" beside "Source Port".
    const bool end_beside_port = field == Field::none && side != Side::none &&
                                 words_of(cells[i]).size() == 1 && has(side, Field::port) &&
                                 !has(side, Field::device) && !has(side, Field::name);
    if (end_beside_port) field = Field::device;
    if (side == Side::none) {
      const auto kind = field == Field::device ? 0U : field == Field::port ? 1U : 2U;
      const bool of_end = field == Field::device || field == Field::port || field == Field::place;
      const bool both_named = has(Side::one, field) && has(Side::other, field);
      if (of_end && !both_named) side = bare[kind]++ == 0 ? Side::one : Side::other;
    }
    const auto column = side == Side::none ? column_of_cable(field) : column_of(side, field);
    if (column) made.put(*column, i);
  }
  if (made.absent().empty()) {
    *this = made;
    return;
  }
  // "From" and "To" alone.
  CableHeader joined = *this;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto [side, field] = meanings[i];
    if (field != Field::none || !is_end_alone(words_of(cells[i]))) continue;
    if (side == Side::one) joined.put(from, i);
    if (side == Side::other) joined.put(to, i);
  }
  if (joined.at(from) < 0 || joined.at(to) < 0 || at(from_port) >= 0 || at(to_port) >= 0) return;
  joined.joined_ = true;
  *this = joined;
}

std::string CableHeader::absent() const {
  std::string names;
  for (const auto& [column, name] : kNeededColumns) {
    const bool in_one_cell = joined_ && (column == from_port || column == to_port);
    if (at(column) < 0 && !in_one_cell)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  return names;
}

}  // namespace cupel::inventory
