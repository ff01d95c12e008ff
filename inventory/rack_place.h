#pragma once
// Where a part of a rack says that it sits, whoever says it: a GPU through its BMC, a switch
// through its operating system. Not where it should sit: that is rack.h.
#include <optional>
#include <string>
#include <string_view>

namespace cupel::inventory {

/// What was not reported ("NA", 0, a text where a number is due) stays empty.
struct RackPlace {
  std::string part{};            // who says so: "GPU_2", "switch"
  std::string chassis_serial{};  // of the rack
  std::optional<int> slot{};     // counted from 1 over compute and switch trays alike
  std::optional<int> tray{};     // index; compute trays alone, and counted otherwise
  std::optional<int> host{};     // of several in a tray
  std::optional<int> module{};   // place within the tray
  std::string topology{};        // "GB200 NVL72"
  std::string source{};          // URI
  friend bool operator==(const RackPlace&, const RackPlace&) = default;
};

/// The highest slot number that is taken for one.
inline constexpr int kHighestSlot = 255;

/// A slot number as a text or a number: nothing of 0, of "NA" and of what is over kHighestSlot.
std::optional<int> slot_of(std::string_view text);

/// Text as a rack's parts report it: empty for "NA", "N/A" and their like.
std::string reported_place(std::string_view text);

}  // namespace cupel::inventory
