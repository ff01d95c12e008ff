#include "orchestrator/report/report_schema.h"

#include <array>
#include <boost/json.hpp>
#include <string>
#include <string_view>

#include "orchestrator/report/document.h"

namespace cupel::report {
namespace {

namespace json = boost::json;

enum class Always : bool { no, yes };
constexpr auto kMay = Always::no;

/// `type`: text, time, flag, whole, number, number? (or null), words (a map of texts), verdict, or
/// the name of another object; with "[]" behind it a list.
struct KeyRow {
  std::string_view of, key, type, meaning;
  Always always = Always::yes;
};

constexpr auto kRows = std::to_array<KeyRow>({
    {"document", "schema", "version", "raised when a key changes its meaning or goes"},
    {"document", "summary", "run", "the run"},

    {"run", "run", "whole", "its number"},
    {"run", "rehearsal", "flag", "its machines are virtual: nothing is proof of a real one", kMay},
    {"run", "playbook", "text", "its name"},
    {"run", "state", "text", "such as running or ended"},
    {"run", "requalifies", "requalified", "the earlier run that it renews in part", kMay},
    {"run", "began", "time", "when it began, UTC"},
    {"run", "ended", "time", "when it ended, UTC", kMay},
    {"run", "seconds", "number", "how long it took, in seconds", kMay},
    {"run", "pass", "whole", "nodes that passed"},
    {"run", "fail", "whole", "nodes that failed"},
    {"run", "inconclusive", "whole", "nodes of which it could not be found out"},
    {"run", "nodes", "node[]", "in the order of the run"},
    {"run", "failures", "failure[]", "nodes that failed alike"},
    {"run", "site", "text", "the inventory's name for it"},
    {"run", "made", "made", "by whom and with what"},
    {"run", "not_tested", "untested[]", "what was not tested, and why"},
    {"run", "links", "link[]", "what was found and done at its links", kMay},

    {"requalified", "of_run", "whole", "whose evidence stands where this run renews none"},
    {"requalified", "changes", "text[]", "what changed in the machine"},
    {"requalified", "voided", "text[]", "stages whose evidence is void"},
    {"requalified", "open", "text[]", "of these, what this run did not renew"},

    {"node", "node", "text", "its name"},
    {"node", "verdict", "verdict", "what was decided of it"},
    {"node", "causes", "cause[]", "why it is no pass"},
    {"node", "slow", "slow[]", "what is worse than its like, and decides nothing", kMay},
    {"node", "hand_off", "text", "resumed, drained, none, ..."},
    {"node", "reason", "text", "of the hand-off", kMay},
    {"node", "console", "console[]", "what its console printed", kMay},
    {"node", "profile", "text", "what kind of machine it is"},
    {"node", "rack", "text", "where it stands"},
    {"node", "unit", "whole", "the lowest unit that it fills; 0: not stated"},
    {"node", "chassis_serial", "text", "empty: not reported"},
    {"node", "nvlink_domain", "text", "CLUSTERUUID.CLIQUEID of its GPUs", kMay},
    {"node", "nvlink_domains", "text", "where its GPUs report several, with the GPUs", kMay},
    {"node", "gpus_with_serial", "whole", "GPUs that reported a serial number"},
    {"node", "serials", "part[]", "parts that reported a serial number"},
    {"node", "checked", "checked[]", "each criterion for each part"},
    {"node", "measurements", "measurement[]", "all numbers"},

    {"cause", "decision", "verdict", "fail or inconclusive"},
    {"cause", "part", "text", "absent: the node as a whole", kMay},
    {"cause", "subject", "subject", "of a part that is of no single node", kMay},
    {"cause", "criterion", "text", "such as gpu.ecc.uncorrected, or audit: missing"},
    {"cause", "measured", "text", "for people", kMay},
    {"cause", "expected", "text", "for people", kMay},
    {"cause", "evidence", "text", "SHA-256 of the raw output", kMay},
    {"cause", "remedy", "text", "what to do", kMay},
    {"cause", "stages", "text[]", "in which it was seen", kMay},
    {"cause", "value", "number", "as measured, in unit", kMay},
    {"cause", "at_least", "number", "the limit, in unit", kMay},
    {"cause", "at_most", "number", "the limit, in unit", kMay},
    {"cause", "margin", "number", "to the nearer limit, in unit; negative: outside", kMay},
    {"cause", "unit", "text", "of the value", kMay},
    {"cause", "unit_of_limits", "text", "where it is another one", kMay},
    {"cause", "consequence_of", "text", "the cause that explains it", kMay},
    {"cause", "criterion_id", "text", "of the profile's criterion", kMay},
    {"cause", "place", "text", "where in the part", kMay},
    {"cause", "diagnosis", "diagnosis", "what is likely behind it", kMay},

    {"slow", "stage", "text", "which measured it"},
    {"slow", "part", "text", "empty: the node as a whole"},
    {"slow", "measure", "text", "its name"},
    {"slow", "against", "text", "fleet, history or trend"},
    {"slow", "others", "whole", "nodes, or earlier runs, that it was compared with"},
    {"slow", "unit", "text", "of the numbers"},
    {"slow", "text", "text", "for people"},
    {"slow", "value", "number", "as measured", kMay},
    {"slow", "expected", "number", "of a healthy one there", kMay},
    {"slow", "limit", "number", "the worst value that is not slow", kMay},
    {"slow", "behind", "number", "what is expected: a share of it", kMay},

    {"subject", "kind", "text", "link, switch-port, power-feed, group, ..."},
    {"subject", "name", "text", "of the switch, PDU or group", kMay},
    {"subject", "part", "text", "the port or feed", kMay},
    {"subject", "ends", "end[]", "of a link", kMay},
    {"end", "name", "text", "of the node or switch"},
    {"end", "part", "text", "where the link ends there", kMay},

    {"diagnosis", "name", "text", "of the entry of causes.yaml"},
    {"diagnosis", "suspects", "suspect[]", "the likeliest first"},
    {"diagnosis", "equally_likely", "flag", "two or more explain it about equally"},
    {"diagnosis", "next_test", "text", "what tells them apart"},
    {"diagnosis", "remedy", "text", "what to do"},
    {"diagnosis", "vendor_wants", "text[]", "what the vendor asks for"},
    {"diagnosis", "xid_action", "text", "NVIDIA's recommended action", kMay},
    {"suspect", "part", "text", "which part"},
    {"suspect", "share", "number", "0 to 1"},

    {"console", "file", "text", "its path"},
    {"console", "bytes", "whole", "its size"},

    {"part", "kind", "text", "such as gpu, dimm, psu"},
    {"part", "name", "text", "such as gpu3, dimm A7"},
    {"part", "model", "text", "empty: not reported"},
    {"part", "serial", "text", "its serial number"},
    {"part", "firmware", "text", "its version", kMay},
    {"part", "slot", "text", "where it sits", kMay},

    {"checked", "stage", "text", "which measured it"},
    {"checked", "part", "text", "empty: the node as a whole"},
    {"checked", "subject", "subject", "of a part that is of no single node", kMay},
    {"checked", "measure", "text", "its name"},
    {"checked", "met", "flag", "whether the criterion is met"},
    {"checked", "measured", "text", "for people"},
    {"checked", "expected", "text", "for people"},
    {"checked", "source", "text", "where the limits come from"},
    {"checked", "value", "number", "as measured, in unit", kMay},
    {"checked", "at_least", "number", "the limit, in unit", kMay},
    {"checked", "at_most", "number", "the limit, in unit", kMay},
    {"checked", "margin", "number", "to the nearer limit, in unit; negative: outside", kMay},
    {"checked", "unit", "text", "of the value", kMay},
    {"checked", "unit_of_limits", "text", "where it is another one", kMay},
    {"checked", "criterion_id", "text", "of the profile's criterion", kMay},
    {"checked", "place", "text", "where in the part", kMay},
    {"checked", "evidence", "text", "SHA-256 of the raw output", kMay},

    {"measurement", "stage", "text", "which measured it"},
    {"measurement", "measure", "text", "its name"},
    {"measurement", "part", "text", "absent: the node as a whole", kMay},
    {"measurement", "subject", "subject", "of a part that is of no single node", kMay},
    {"measurement", "value", "number?", "in unit; null: no finite number"},
    {"measurement", "unit", "text", "empty: none"},

    {"failure", "step", "text", "that failed"},
    {"failure", "cause", "text", "without what differs from node to node: the key of the group"},
    {"failure", "text", "text", "for people: what was said of the first of the nodes"},
    {"failure", "nodes", "text[]", "that failed alike"},
    {"failure", "ended", "whole", "nodes that ended the step"},
    {"failure", "clusters", "cluster[]", "what sets them apart"},
    {"cluster", "traits", "words", "such as model, rack, bmc"},
    {"cluster", "failed", "whole", "nodes with these traits that failed"},
    {"cluster", "of", "whole", "nodes with these traits"},
    {"cluster", "others_failed", "whole", "other nodes that failed"},
    {"cluster", "others", "whole", "other nodes"},
    {"cluster", "chance", "number", "that it is an accident: 0 to 1"},
    {"cluster", "text", "text", "for people"},

    {"made", "begun_by", "text", "the login's name"},
    {"made", "host", "text", "where the controller ran"},
    {"made", "versions", "words", "of programs, or their SHA-256"},
    {"made", "parameters", "words", "of the playbook"},
    {"made", "playbook_sha256", "text", "of its text"},
    {"made", "inventory_sha256", "text", "of the file and its profiles"},
    {"made", "profiles_sha256", "words", "by name"},
    {"made", "people", "deed[]", "what people decided"},
    {"made", "clock_set", "clock[]", "where the controller's clock was set"},
    {"made", "journal", "journal", "what the report is made of"},
    {"deed", "at", "time", "when, UTC"},
    {"deed", "by", "text", "who"},
    {"deed", "what", "text", "skipped, approved, ..."},
    {"deed", "node", "text", "absent: the run", kMay},
    {"deed", "step", "text", "of the node or the run", kMay},
    {"deed", "why", "text", "their reason", kMay},
    {"clock", "event", "whole", "before which it was set"},
    {"clock", "seconds", "whole", "forward; negative: back"},
    {"journal", "events", "whole", "how many there are"},
    {"journal", "head", "text", "the last event's hash"},

    {"untested", "what", "text", "steps, a measure, a fact"},
    {"untested", "why", "text", "such as: not in the playbook"},
    {"untested", "nodes", "text[]", "empty: all"},

    {"link", "kind", "text", "judged or repaired"},
    {"link", "by", "text", "who recorded it"},
    {"link", "from", "port", "one end"},
    {"link", "to", "port", "the other end", kMay},
    {"link", "at", "whole", "seconds since 1970"},
    {"link", "did", "text", "of a repair", kMay},
    {"link", "note", "text", "of a repair", kMay},
    {"link", "since", "whole", "of a judgement: seconds since 1970", kMay},
    {"link", "defects", "defect[]", "of a judgement", kMay},
    {"port", "device", "text", "the node or switch"},
    {"port", "hca", "text", "empty: of a switch"},
    {"port", "port", "whole", "its number"},
    {"defect", "fault", "text", "which fault"},
    {"defect", "what", "text", "for people"},
});

json::object schema_of(std::string_view type) {
  constexpr std::string_view kList = "[]";
  if (type.ends_with(kList))
    return {{"type", "array"}, {"items", schema_of(type.substr(0, type.size() - kList.size()))}};
  if (type == "text") return {{"type", "string"}};
  if (type == "time")
    return {{"type", "string"}, {"pattern", R"(^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$)"}};
  if (type == "flag") return {{"type", "boolean"}};
  if (type == "whole") return {{"type", "integer"}};
  if (type == "number") return {{"type", "number"}};
  if (type == "number?") return {{"type", json::array{"number", "null"}}};
  if (type == "words")
    return {{"type", "object"}, {"additionalProperties", json::object{{"type", "string"}}}};
  if (type == "verdict") return {{"enum", json::array{"pass", "fail", "inconclusive"}}};
  if (type == "version") return {{"const", kJsonSchema}};
  return {{"$ref", "#/$defs/" + std::string{type}}};
}

}  // namespace

json::object report_schema(OtherKeys others) {
  json::object objects;
  for (const auto& row : kRows) {
    auto& object = objects[row.of];
    if (object.is_null()) {
      object = json::object{
          {"type", "object"}, {"properties", json::object{}}, {"required", json::array{}}};
      if (others == OtherKeys::refused) object.as_object()["additionalProperties"] = false;
    }
    auto schema = schema_of(row.type);
    schema["description"] = row.meaning;
    object.at("properties").as_object()[row.key] = std::move(schema);
    if (row.always == Always::yes) object.at("required").as_array().emplace_back(row.key);
  }
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"title", "cupel report --json"},
          {"$ref", "#/$defs/document"},
          {"$defs", std::move(objects)}};
}

}  // namespace cupel::report
