#include "burnin/agent/burn/load_pattern.h"

#include <cmath>

namespace cupel::burn {
namespace {

constexpr double kSlot = 0.02;  // seconds: a ramp is made of slots that are burnt in part

double fraction(double value) { return value - std::floor(value); }

}  // namespace

LoadPattern::Form LoadPattern::form_of(std::string_view name) {
  if (name == "square") return Form::kSquare;
  return name == "ramp" ? Form::kRamp : Form::kSteady;
}

bool LoadPattern::burns(double second) const {
  switch (form) {
    case Form::kSteady:
      return true;
    case Form::kSquare:
      return fraction(second * hertz) < 0.5;
    case Form::kRamp: {
      const double share = fraction(std::floor(second / kSlot) * kSlot * hertz);
      return fraction(second / kSlot) < share;
    }
  }
  return true;
}

double LoadPattern::changes(double second) const {
  if (form == Form::kSteady) return second + 1;
  const double step = form == Form::kSquare ? 0.5 / hertz : kSlot / 8;
  return (std::floor(second / step) + 1) * step;
}

}  // namespace cupel::burn
