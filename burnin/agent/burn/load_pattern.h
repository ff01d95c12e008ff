#pragma once
// When the GPUs are loaded and when they are idle: always, in square waves as training loads a
// power supply, or in a ramp from idle to full load. By the wall clock, so that nodes whose clocks
// are synchronized are loaded in phase.
#include <string_view>

namespace cupel::burn {

struct LoadPattern {
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
