#include "orchestrator/store/chain_heads.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/ownership.h"
#include "base/paths.h"
#include "base/text.h"
#include "orchestrator/store/evidence.h"

namespace cupel::store {
namespace {

constexpr std::size_t kLargestFile = 64u << 20;  // half a million runs

Error no_heads(std::string_view why) {
  return Error{
      Code::kInvalid,
      fmt::format("{}: it does not say where chains end, as heads.json of a backup does", why)};
}

std::int64_t count_at(const json::value& value, std::string_view key) {
  const auto* found = find(value, key);
  const auto* number = found == nullptr ? nullptr : found->if_int64();
  return number == nullptr ? 0 : *number;
}

Result<JournalHead> journal_head(const json::value& value) {
  JournalHead head{count_at(value, "run"), count_at(value, "events"),
                   text_at(value, "head_sha256").value_or("")};
  if (head.run > 0 && head.events > 0 && is_evidence_name(head.hash)) return head;
  return no_heads("an entry of 'journals' lacks run, events or head_sha256");
}

}  // namespace

std::string heads_text(const ChainHeads& heads) {
  json::array journals;
  for (const auto& each : heads.journals)
    journals.push_back({{"run", each.run}, {"events", each.events}, {"head_sha256", each.hash}});
  const json::object root{{"audit", to_string(heads.audit)}, {"journals", std::move(journals)}};
  return json::serialize(root) + "\n";
}

Result<ChainHeads> parse_heads(std::string_view text) {
  const auto root = parse_json(text);
  if (!root) return no_heads(root.error().what);
  const auto audit = text_at(*root, "audit");
  const auto* journals = find(*root, "journals");
  if (!audit || journals == nullptr || !journals->is_array())
    return no_heads("'audit' or 'journals' is absent");
  ChainHeads heads;
  if (*audit != to_string(AuditHead{})) {
    TRY(heads.audit, audit_head_of(*audit));
  }
  for (const auto& each : journals->get_array()) {
    TRY(auto head, journal_head(each));
    heads.journals.push_back(std::move(head));
  }
  return heads;
}

Result<ChainHeads> read_heads(const std::filesystem::path& file) {
  TRY(const auto text, read_trusted_file(file, kLargestFile));
  return within(printable(file.string()), parse_heads(text));
}

Result<std::optional<ChainHeads>> heads_in(const std::filesystem::path& folder) {
  if (!is_there(folder / kHeadsFile)) return std::optional<ChainHeads>{};
  TRY(auto heads, read_heads(folder / kHeadsFile));
  return std::optional{std::move(heads)};
}

}  // namespace cupel::store
