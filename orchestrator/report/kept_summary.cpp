#include "orchestrator/report/kept_summary.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "base/file.h"
#include "base/json.h"
#include "orchestrator/report/document.h"
#include "orchestrator/store/journal_end.h"
#include "orchestrator/store/modes.h"

namespace cupel::report {
namespace {

constexpr std::size_t kLargestSummary = 32u << 20;

std::filesystem::path summary_file(const store::Store& store, engine::RunId run) {
  return store.folder() / "summaries" / (std::to_string(run) + ".json");
}

bool has_text(const json::object& object, std::string_view key, std::string_view text) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() && value->get_string() == text;
}

std::optional<json::object> read_kept(const std::filesystem::path& file, std::string_view hash,
                                      std::string_view made_by) {
  const auto text = read_file(file, kLargestSummary);
  if (!text) return std::nullopt;
  auto value = parse_json(*text);
  if (!value || !value->is_object()) return std::nullopt;
  auto& object = value->get_object();
  const auto* summary = object.if_contains("summary");
  const bool right = has_text(object, "tip", hash) && has_text(object, "made_by", made_by) &&
                     summary != nullptr && summary->is_object();
  if (!right) return std::nullopt;
  return summary->get_object();
}

}  // namespace

bool is_in_work(const store::Run& run, const NodeSummary& node) {
  const bool over =
      run.phase == engine::RunPhase::ended || run.phase == engine::RunPhase::cancelled;
  return !over && !node.record.verdict && node.decision == burnin::Decision::inconclusive;
}

Result<json::object> kept_summary(const store::Store& store, const store::Run& run,
                                  std::string_view made_by) {
  // One that has another form is made again.
  const auto maker = fmt::format("{}, schema {}", made_by, kJsonSchema);
  TRY(const auto ends, store::JournalEnds::open(store.folder()));
  TRY(const auto tip, ends.of(run.id));
  const auto file = summary_file(store, run.id);
  if (!tip.hash.empty())
    if (auto kept = read_kept(file, tip.hash, maker)) return std::move(*kept);
  TRY(const auto whole, summarize(store, run.id));
  auto object = std::move(to_json(whole).at("summary").as_object());
  const bool works =
      run.phase == engine::RunPhase::running || run.phase == engine::RunPhase::submitted;
  if (works || tip.hash.empty()) return object;
  store::make_private_folder(file.parent_path());
  const json::object kept{{"tip", tip.hash}, {"made_by", maker}, {"summary", object}};
  // One that cannot be kept, for want of room or of rights, is made again next time.
  [[maybe_unused]] const auto written = write_file(file, json::serialize(kept));
  return object;
}

}  // namespace cupel::report
