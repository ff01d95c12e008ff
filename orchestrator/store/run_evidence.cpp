#include "orchestrator/store/run_evidence.h"

#include "base/json.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/evidence.h"

namespace cupel::store {

Result<std::set<std::string>> evidence_of(const Store& store, RunId run) {
  std::set<std::string> named, documents;
  TRY(store.each_event(run, [&](const EventRow& row) {
    if (!row.data.contains("\"evidence\"")) return;
    const auto data = parse_json(row.data);
    if (!data) return;
    note_evidence(*data, named);
    const auto* object = data->if_object();
    if (object == nullptr || !object->contains("together")) return;
    const auto document = text_at(*data, "evidence").value_or("");
    if (is_evidence_name(document)) documents.insert(document);
  }));
  for (const auto& document : documents) {
    const auto text = store.evidence(document);
    const auto parts = text ? parse_json(*text) : Result<json::value>{text.error()};
    if (parts) note_evidence(*parts, named);
  }
  return named;
}

}  // namespace cupel::store
