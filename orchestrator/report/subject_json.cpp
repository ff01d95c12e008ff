#include "orchestrator/report/subject_json.h"

#include <boost/json/array.hpp>

namespace cupel::report {
namespace {

namespace json = boost::json;

json::object end_json(const std::string& name, const std::string& part) {
  json::object end{{"name", name}};
  if (!part.empty()) end["part"] = part;
  return end;
}

}  // namespace

json::object to_json(const inventory::Subject& subject) {
  json::object object;
  object["kind"] = to_string(subject.kind);
  if (subject.kind == inventory::Subject::Kind::link)
    object["ends"] = json::array{end_json(subject.name, subject.part),
                                 end_json(subject.far_name, subject.far_part)};
  else
    for (auto& [key, value] : end_json(subject.name, subject.part)) object[key] = std::move(value);
  return object;
}

void put_subject(json::object& into, const std::string& part) {
  const auto subject = inventory::Subject::part_of({}, part);
  if (is_beyond_a_node(subject)) into["subject"] = to_json(subject);
}

}  // namespace cupel::report
