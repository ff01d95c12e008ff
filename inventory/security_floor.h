#pragma once
// The oldest versions that are safe to run, each from a vendor's advisory, and a machine's versions
// against them. Pure. Shipped as inventory/security-floor.yaml; a site may have its own.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/problem.h"

namespace cupel::inventory {

struct Seen;

/// What a floor may be of.
struct FloorComponent {
  std::string_view name;  // "driver"
  bool is_read;           // runs read its version, so that it is judged
};

std::span<const FloorComponent> floor_components();
/// nullptr if there is none of that name.
const FloorComponent* floor_component(std::string_view name);

/// The oldest safe version of one branch of a component.
struct FloorRow {
  std::string component{};
  std::string branch{};    // "535": of versions "535" and "535.*"
  std::string at_least{};  // of connectx without the first number, which stands for the chip
  /// Patterns of the part's model: the row is for these alone. Empty: for those that no other row
  /// names.
  std::vector<std::string> models{};
  std::string advisory{};  // "NVIDIA 5821"
  std::string date{};      // of the advisory: "2026-05-19"
  std::string source{};
  Place where{};
};

struct SecurityFloor {
  std::string title{};
  std::vector<FloorRow> rows{};
};

/// As the inventory names it. No rows: nothing is judged.
struct FloorSite {
  std::string file{};  // absolute; empty: the shipped one
  bool fails = false;  // a node below the floor fails; else it is reported, and decides nothing
  std::vector<FloorRow> rows{};
  Place where{};
};

/// A version that is below the floor.
struct BelowFloor {
  std::string component{}, part{}, version{}, at_least{}, advisory{}, date{};
  friend bool operator==(const BelowFloor&, const BelowFloor&) = default;
};

struct FloorLook {
  std::string policy{};             // "warn", "fail"
  std::vector<std::string> read{};  // components of which every part's version was compared
  std::vector<BelowFloor> below{};
  friend bool operator==(const FloorLook&, const FloorLook&) = default;
};

/// The branch that a version belongs to where no row says otherwise: "535" of "535.309.01".
std::string_view first_number(std::string_view version);

/// Two numbers, "43.8002": a version of connectx without its chip's number.
bool is_connectx_train(std::string_view version);

/// Without the chip's number: "43.8002" of "28.43.8002" where the component is connectx.
std::string_view without_chip(std::string_view component, std::string_view version);

/// A version of a branch is held against that branch's row. One of a branch without a row, and
/// before some row, is held against the next later row: a branch that gets no fix is below the
/// floor. What cannot be ordered is not read.
FloorLook judge_floor(const FloorSite& floor, const Seen& seen);

/// "driver 535.54.03, at least 535.309.01 (NVIDIA 5821, 2026-05-19)", several joined by ";", at
/// most four; empty where nothing is below.
std::string to_words(const FloorLook& look);

}  // namespace cupel::inventory
