#include "orchestrator/controller/run_options.h"

#include <algorithm>
#include <boost/json.hpp>

#include "base/json.h"

namespace cupel::controller {
namespace {

using std::chrono::seconds;

/// From JSON, between one second and a week where it is not 0.
seconds span_of(const boost::json::object& object, std::string_view key, seconds usual,
                seconds least) {
  const auto* value = object.if_contains(key);
  if (value == nullptr || !value->is_int64()) return usual;
  return std::clamp(seconds{value->get_int64()}, least, kLongestRepairPatience);
}

}  // namespace

RunOptions with(RunOptions options, const RunFlags& flags) {
  options.consoles = flags.consoles.value_or(options.consoles);
  options.notify = flags.notify.value_or(options.notify);
  options.look_again = flags.look_again.value_or(options.look_again);
  options.measure_power = flags.measure_power.value_or(options.measure_power);
  options.repair_patience = flags.repair_patience.value_or(options.repair_patience);
  if (flags.requalifies) options.requalifies = flags.requalifies;
  return options;
}

std::string to_text(const RunOptions& options) {
  boost::json::object object{{"consoles", options.consoles},
                             {"notify", options.notify},
                             {"look_again_s", options.look_again.count()},
                             {"measure_power_s", options.measure_power.count()},
                             {"hands_patience_s", options.repair_patience.count()}};
  if (options.rehearsal) object["rehearsal"] = true;
  if (!options.begun_by.empty()) object["begun_by"] = options.begun_by;
  if (!options.request.empty()) object["request"] = options.request;
  if (options.requalifies) object["requalifies"] = report::to_json(*options.requalifies);
  return boost::json::serialize(object);
}

RunOptions run_options_of(std::string_view text) {
  RunOptions options;
  const auto parsed = parse_json(text);
  const auto* object = parsed ? parsed->if_object() : nullptr;
  if (object == nullptr) return options;
  const auto* consoles = object->if_contains("consoles");
  if (consoles != nullptr && consoles->is_bool()) options.consoles = consoles->get_bool();
  const auto* notify = object->if_contains("notify");
  if (notify != nullptr && notify->is_string()) options.notify = notify->get_string();
  options.rehearsal = object->contains("rehearsal");
  options.requalifies = report::requalified_from(object->if_contains("requalifies"));
  const auto* begun_by = object->if_contains("begun_by");
  if (begun_by != nullptr && begun_by->is_string()) options.begun_by = begun_by->get_string();
  options.request = text_at(*parsed, "request").value_or("");
  options.look_again = span_of(*object, "look_again_s", options.look_again, seconds{1});
  options.measure_power = span_of(*object, "measure_power_s", options.measure_power, seconds{1});
  options.repair_patience = span_of(*object, "hands_patience_s", seconds{0}, seconds{0});
  return options;
}

}  // namespace cupel::controller
