#include "orchestrator/store/held_runs.h"

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/text.h"
#include "orchestrator/store/certificate_note.h"
#include "orchestrator/store/evidence.h"
#include "orchestrator/store/packed_text.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNote = 64UL << 10U, kMostNotes = 100'000;

void hold_by_note(const fs::path& file, WallTime at, std::map<RunId, std::string>& held) {
  const auto text = read_file(file, kMostNote);
  const auto note = text ? parse_json(*text) : Result<json::value>{text.error()};
  if (!note) return;
  const auto expires = number_at(*note, "expires_ms");
  if (expires && *expires <= static_cast<double>(count_of(at))) return;
  const auto* runs = find(*note, "runs");
  if (runs == nullptr || !runs->is_array()) return;
  for (const auto& each : runs->get_array())
    if (each.is_int64())
      held.try_emplace(each.get_int64(), fmt::format("a certificate refers to it (SHA-256 {})",
                                                     file.stem().string().substr(0, 16)));
}

/// Of a run that keeps the evidence of another one.
std::optional<RunId> kept_by(const std::string& options) {
  const auto parsed = parse_json(options);
  const auto* run = parsed ? find(*parsed, "requalifies/of_run") : nullptr;
  if (run == nullptr || !run->is_int64()) return std::nullopt;
  return run->get_int64();
}

void hold_bases(soci::session& sql, std::map<RunId, std::string>& held) {
  RunId run = 0;
  std::string options;
  soci::statement rows =
      (sql.prepare << "SELECT id, options FROM run", soci::into(run), soci::into(options));
  rows.execute();
  while (rows.fetch())
    if (const auto base = kept_by(options))
      held.try_emplace(*base, fmt::format("run {} keeps a part of its evidence", run));
}

}  // namespace

Result<void> note_certificate(const fs::path& folder, const std::string& sha256,
                              const std::vector<RunId>& runs, WallTime expires) {
  std::error_code failure;
  fs::create_directories(folder / kCertificateFolder, failure);
  if (failure)
    return Error{Code::kStorage,
                 fmt::format("{}: {}", (folder / kCertificateFolder).string(), failure.message())};
  fs::permissions(folder / kCertificateFolder, fs::perms::owner_all, failure);
  const json::object note{{"runs", json::array(runs.begin(), runs.end())},
                          {"expires_ms", count_of(expires)}};
  return write_file(folder / kCertificateFolder / (sha256 + ".json"), json::serialize(note) + "\n",
                    0600);
}

std::map<RunId, std::string> held_runs(soci::session& sql, const fs::path& folder, WallTime at) {
  std::map<RunId, std::string> held;
  std::size_t notes = 0;
  each_entry(folder / kCertificateFolder, [&](const fs::directory_entry& entry) {
    if (++notes > kMostNotes) return;
    if (is_evidence_name(entry.path().stem().string())) hold_by_note(entry.path(), at, held);
  });
  hold_bases(sql, held);
  return held;
}

bool all_passed(soci::session& sql, RunId run) {
  const soci::rowset<soci::row> rows =
      (sql.prepare << "SELECT data FROM event WHERE run = :run AND kind = 'step-ended' AND (step = "
                      "'verdict' OR step LIKE 'verdict@%')",
       soci::use(run));
  bool any = false;
  for (const auto& row : rows) {
    const auto data = parse_json(unpacked_text(row.get<std::string>(0)));
    const auto word = data ? text_at(*data, "verdict") : std::nullopt;
    if (word != "pass") return false;
    any = true;
  }
  return any;
}

}  // namespace cupel::store
