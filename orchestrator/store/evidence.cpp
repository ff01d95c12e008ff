#include "orchestrator/store/evidence.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/paths.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/dialect.h"
#include "orchestrator/store/gzip.h"
#include "orchestrator/store/modes.h"
#include "orchestrator/store/postgresql.h"

namespace cupel::store {
namespace {

namespace fs = std::filesystem;

fs::path plain_file(const fs::path& state, std::string_view hash) {
  return state / "evidence" / std::string{hash.substr(0, 2)} / std::string{hash};
}

fs::path packed_file(const fs::path& state, std::string_view hash) {
  auto file = plain_file(state, hash);
  file += kPacked;
  return file;
}

/// What was changed on disk. Both are kept: what is there now may tell somebody how.
void set_aside(const fs::path& file) {
  auto aside = file;
  aside += ".damaged";
  std::error_code failure;
  fs::rename(file, aside, failure);
}

/// JSON of ours is no deeper than what parse_json() takes.
void note_at(const boost::json::value& value, int depth, std::set<std::string>& into) {
  constexpr int kDeepest = 64;
  if (depth > kDeepest) return;
  if (const auto* array = value.if_array())
    for (const auto& each : *array) note_at(each, depth + 1, into);
  const auto* object = value.if_object();
  if (object == nullptr) return;
  for (const auto& [key, each] : *object)
    if (key == "evidence" && each.is_string() && is_evidence_name(each.get_string()))
      into.emplace(each.get_string());
    else
      note_at(each, depth + 1, into);
}

}  // namespace

void note_evidence(const boost::json::value& value, std::set<std::string>& into) {
  note_at(value, 0, into);
}

std::string_view hash_of_file(std::string_view file_name) {
  if (file_name.ends_with(kPacked)) file_name.remove_suffix(kPacked.size());
  return is_evidence_name(file_name) ? file_name : std::string_view{};
}

fs::path evidence_file(const fs::path& state, std::string_view hash) {
  std::error_code failure;
  auto plain = plain_file(state, hash);
  return fs::exists(plain, failure) ? plain : packed_file(state, hash);
}

namespace {

Error changed(std::string_view hash) {
  return Error{Code::kMalformed, "evidence " + std::string{hash} + " was changed where it is kept"};
}

/// Unpacked, and held against its name.
Result<std::string> opened(std::string bytes, bool packed, std::string_view hash) {
  if (packed) {
    auto unpacked = gunzipped(bytes, kEvidenceLimit);
    if (!unpacked) return changed(hash);
    bytes = *std::move(unpacked);
  }
  if (sha256_hex(bytes) != hash) return changed(hash);
  return bytes;
}

Result<std::string> read_piece(const fs::path& state, std::string_view hash) {
  const auto file = evidence_file(state, hash);
  TRY(auto bytes, read_file(file, kEvidenceLimit));
  return opened(std::move(bytes), file.extension() == kPacked, hash);
}

KeptBytes packed(std::string_view bytes) {
  auto smaller = gzipped(bytes);
  if (smaller.size() < bytes.size()) return {true, std::move(smaller)};
  return {false, std::string{bytes}};
}

/// Who names it in the journal must find it after a power cut too.
Result<void> write_piece(const fs::path& state, const std::string& hash, const KeptBytes& kept) {
  const auto file = kept.packed ? packed_file(state, hash) : plain_file(state, hash);
  const auto drawer = file.parent_path();
  const bool first = make_private_folder(state / "evidence");
  const bool fresh = make_private_folder(drawer) || first;
  TRY(write_file(file, kept.bytes, 0600));
  TRY(sync_folder(drawer));
  if (!fresh) return ok();
  TRY(sync_folder(drawer.parent_path()));
  return sync_folder(state);
}

}  // namespace

Result<std::string> read_evidence(soci::session& sql, const fs::path& state,
                                  std::string_view hash) {
  if (!is_postgresql(sql)) return read_piece(state, hash);
  auto kept = get_evidence(sql, std::string{hash});
  if (!kept) return read_piece(state, hash);
  auto bytes = opened(std::move(kept->bytes), kept->packed, hash);
  if (bytes) return bytes;
  auto in_file = read_piece(state, hash);
  return in_file ? in_file : bytes;
}

Result<std::string> keep_evidence(soci::session& sql, const fs::path& state,
                                  std::string_view bytes) {
  if (bytes.size() > kEvidenceLimit)
    return Error{Code::kStorage, fmt::format("evidence has at most {} bytes", kEvidenceLimit)};
  const auto hash = sha256_hex(bytes);
  if (is_postgresql(sql)) {
    if (!has_whole_row(sql, hash)) put_evidence(sql, hash, packed(bytes));
    return hash;
  }
  if (read_piece(state, hash)) return hash;
  std::error_code failure;
  for (const auto& file : {plain_file(state, hash), packed_file(state, hash)})
    if (fs::exists(file, failure)) set_aside(file);
  TRY(within("cannot keep evidence", write_piece(state, hash, packed(bytes))));
  return hash;
}

void each_evidence_row(soci::session& sql, const std::function<void(const EvidenceRow&)>& visit) {
  if (!is_postgresql(sql) || !has_table(sql, "evidence")) return;
  std::string last;
  for (std::vector<EvidenceRow> page; page.size() == kRowsAtOnce || last.empty();) {
    page.clear();
    EvidenceRow row;
    soci::statement rows =
        (sql.prepare << "SELECT hash, octet_length(bytes) FROM evidence WHERE hash > :last ORDER "
                        "BY hash LIMIT " +
                            std::to_string(kRowsAtOnce),
         soci::use(last), soci::into(row.hash), soci::into(row.bytes));
    rows.execute();
    while (rows.fetch()) page.push_back(row);
    for (const auto& each : page) visit(each);
    if (page.empty()) return;
    last = page.back().hash;
  }
}

bool has_whole_row(soci::session& sql, std::string_view hash) {
  if (!is_postgresql(sql) || !is_evidence_name(hash)) return false;
  auto kept = get_evidence(sql, std::string{hash});
  return kept && opened(std::move(kept->bytes), kept->packed, hash);
}

void remove_evidence_row(soci::session& sql, const std::string& hash) {
  sql << "DELETE FROM evidence WHERE hash = :hash", soci::use(hash);
}

void each_evidence_file(
    const fs::path& state,
    const std::function<void(const fs::path&, const std::string& hash)>& visit) {
  std::error_code gone;
  const auto file = [&](const fs::directory_entry& entry) {
    const auto name = entry.path().filename().string();
    const std::string hash{hash_of_file(name)};
    if (!hash.empty() && entry.is_regular_file(gone)) visit(entry.path(), hash);
  };
  each_entry(state / "evidence", [&](const fs::directory_entry& drawer) {
    if (drawer.path().filename().string().size() == 2) each_entry(drawer.path(), file);
  });
}

Result<std::string> Store::keep_evidence(std::string_view bytes) {
  auto& sql = database_->sql;
  return guarded("cannot keep evidence", [&]() -> Result<std::string> {
    // A file is found after a move, too; a row of the place that the store left is not.
    if (!is_postgresql(sql)) return store::keep_evidence(sql, folder_, bytes);
    Writing writing{sql};
    TRY(auto hash, store::keep_evidence(sql, folder_, bytes));
    writing.commit();
    return hash;
  });
}

Result<std::string> Store::evidence(std::string_view hash) const {
  if (!is_evidence_name(hash))
    return Error{Code::kInvalid, "an evidence's name is 64 hexadecimal digits"};
  return guarded("cannot read evidence",
                 [&] { return read_evidence(database_->sql, folder_, hash); });
}

}  // namespace cupel::store
