#include "rehearsal/managed_system.h"

namespace cupel::rehearsal {

std::string_view to_string(Power power) {
  switch (power) {
    case Power::off:
      return "Off";
    case Power::powering_on:
      return "PoweringOn";
    case Power::on:
      return "On";
    case Power::powering_off:
      return "PoweringOff";
  }
  return "Off";
}

}  // namespace cupel::rehearsal
