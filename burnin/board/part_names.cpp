#include "burnin/board/part_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "burnin/script.h"

namespace cupel::burnin {
namespace {

constexpr std::size_t kMostParts = 1000;
constexpr std::size_t kMostLabels = 8;
constexpr std::size_t kShortestLabel = 3;  // "P1" stands in too many texts
constexpr std::size_t kLongestText = 2000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// Where the word stands by itself: "psu1" is not in "psu10", and is in "pwr_psu1_in".
bool stands_in(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool begins = at == 0 || !(is_letter(text[at - 1]) || is_digit(text[at - 1]));
    const bool ends = end == text.size() || !(is_letter(text[end]) || is_digit(text[end]));
    if (begins && ends) return true;
  }
  return false;
}

struct Common {
  std::string_view word;  // lower case
  std::string_view part;  // our name in front of the number; alone where `numbered` is false
  bool numbered = true;
  bool from_one = false;  // the BMC counts from one, we from zero
};

/// Longer words first: "gpu_sxm" before "gpu".
constexpr std::array kCommon{
    Common{"gpu_sxm", "gpu", true, true},
    Common{"gpu", "gpu"},
    Common{"power supply", "psu"},
    Common{"psu", "psu"},
    Common{"ps", "psu"},
    Common{"fan_sys", "fan"},
    Common{"fan", "fan"},
    Common{"nvswitch", "nvswitch"},
    Common{"nvme", "nvme"},
    Common{"leak", "leak detector", false},
};

/// What stands between a word and its number: "Power Supply Bay 1", "PSU.Slot.2", "GPU #3".
std::size_t past_fillers(std::string_view text, std::size_t at) {
  constexpr std::array<std::string_view, 5> kFillers{"bay", "slot", "unit", "module", "no"};
  for (bool moved = true; moved;) {
    moved = false;
    while (at < text.size() && std::string_view{" _-#.:"}.contains(text[at])) {
      ++at;
      moved = true;
    }
    for (const auto filler : kFillers)
      if (text.substr(at).starts_with(filler)) {
        at += filler.size();
        moved = true;
      }
  }
  return at;
}

std::string numbered(std::string_view text, const Common& common) {
  for (auto at = text.find(common.word); at != text.npos; at = text.find(common.word, at + 1)) {
    if (at > 0 && is_letter(text[at - 1])) continue;
    if (!common.numbered) return std::string{common.part};
    const auto from = past_fillers(text, at + common.word.size());
    auto end = from;
    while (end < text.size() && is_digit(text[end]) && end - from < 4) ++end;
    // "#0xc3" is a sensor's number.
    if (end < text.size() && text[end] == 'x') continue;
    const auto reported = number<int>(text.substr(from, end - from));
    if (!reported || (common.from_one && *reported == 0)) continue;
    return std::string{common.part} + std::to_string(*reported - (common.from_one ? 1 : 0));
  }
  return {};
}

/// "DIMM_A7", "P1-DIMMA1", "DIMM A7": by its locator.
std::string dimm_in(std::string_view text) {
  for (auto at = text.find("dimm"); at != text.npos; at = text.find("dimm", at + 1)) {
    const auto from = past_fillers(text, at + 4);
    auto end = from;
    while (end < text.size() && is_letter(text[end]) && end - from < 2) ++end;
    const auto letters = end;
    while (end < text.size() && is_digit(text[end]) && end - letters < 3) ++end;
    const bool whole = end == text.size() || !(is_letter(text[end]) || is_digit(text[end]));
    if (end == letters || !whole) continue;
    std::string locator{text.substr(from, end - from)};
    for (char& c : locator)
      if (is_letter(c)) c = static_cast<char>(c - 'a' + 'A');
    return "dimm " + locator;
  }
  return {};
}

bool leads_to(std::string_view source, std::string_view uri) {
  const bool below =
      source.starts_with(uri) &&
      (source.size() == uri.size() || source[uri.size()] == '/' || source[uri.size()] == '#');
  return !uri.empty() && below;
}

}  // namespace

PartNames PartNames::from_json(const json::value* parts) {
  std::vector<Called> known;
  if (parts == nullptr || !parts->is_array()) return PartNames{{}};
  for (const auto& each : parts->get_array()) {
    Called called{script::clean(text_at(each, "name").value_or(""))};
    const auto* labels = find(each, "as");
    if (called.part.empty() || known.size() >= kMostParts) continue;
    if (labels != nullptr && labels->is_array())
      for (const auto& label : labels->get_array())
        if (label.is_string() && called.as.size() < kMostLabels)
          called.as.emplace_back(label.get_string());
    known.push_back(std::move(called));
  }
  return PartNames{std::move(known)};
}

std::string PartNames::of(std::string_view text, std::string_view source) const {
  const auto lower = lower_case(text.substr(0, kLongestText));
  std::size_t longest = 0;
  std::string best;
  const auto offer = [&](const std::string& part, std::size_t length) {
    if (length <= longest) return;
    longest = length;
    best = part;
  };
  for (const auto& called : parts_) {
    for (const auto& label : called.as) {
      // An address says more than any word.
      if (label.starts_with('/')) {
        if (leads_to(source, label)) offer(called.part, kLongestText + label.size());
      } else if (label.size() >= kShortestLabel && !std::ranges::all_of(label, is_digit) &&
                 stands_in(lower, lower_case(label))) {
        offer(called.part, label.size());
      }
    }
    if (stands_in(lower, lower_case(called.part))) offer(called.part, called.part.size());
  }
  if (!best.empty()) return best;
  if (auto dimm = dimm_in(lower); !dimm.empty()) return dimm;
  for (const auto& common : kCommon)
    if (auto part = numbered(lower, common); !part.empty()) return part;
  return {};
}

}  // namespace cupel::burnin
