#pragma once
// When the GPUs burn and when they rest: steady, in square waves as training loads a power supply,
// or rising from nothing to all. By the clock on the wall, so that the nodes of a rack, whose
// clocks agree, burn in phase.
#include <string_view>

namespace cupel::burn {

struct Beat {
  enum class Form { kSteady, kSquare, kRamp };
  Form form = Form::kSteady;
  double hertz = 1;

  static Form form_of(std::string_view name);  // "steady", "square", "ramp"

  /// Whether to burn at this second of the epoch.
  bool burns(double second) const;
  /// The next second after this one at which that may change; for steady a second later.
  double changes(double second) const;
};

}  // namespace cupel::burn
