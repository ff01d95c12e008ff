#include "orchestrator/store/evidence.h"

#include "base/digest.h"
#include "base/file.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/gzip.h"
#include "orchestrator/store/modes.h"

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

Result<std::string> read_evidence(const fs::path& state, std::string_view hash) {
  const auto changed = [&] {
    return Error{Code::kMalformed, "evidence " + std::string{hash} + " was changed on disk"};
  };
  const auto file = evidence_file(state, hash);
  TRY(auto bytes, read_file(file, kEvidenceLimit));
  if (file.extension() == kPacked) {
    auto unpacked = gunzipped(bytes, kEvidenceLimit);
    if (!unpacked) return changed();
    bytes = *std::move(unpacked);
  }
  if (sha256_hex(bytes) != hash) return changed();
  return bytes;
}

Result<std::string> Store::keep_evidence(std::string_view bytes) {
  if (bytes.size() > kEvidenceLimit)
    return Error{Code::kStorage, fmt::format("evidence has at most {} bytes", kEvidenceLimit)};
  const auto hash = sha256_hex(bytes);
  std::error_code failure;
  for (const auto& file : {plain_file(folder_, hash), packed_file(folder_, hash)}) {
    if (!fs::exists(file, failure)) continue;
    if (evidence(hash)) return hash;
    set_aside(file);
  }
  const auto packed = gzipped(bytes);
  const bool smaller = packed.size() < bytes.size();
  const auto file = smaller ? packed_file(folder_, hash) : plain_file(folder_, hash);
  const auto drawer = file.parent_path();
  const bool first = make_private_folder(folder_ / "evidence");
  const bool fresh = make_private_folder(drawer) || first;
  TRY(within("cannot keep evidence", write_file(file, smaller ? packed : bytes, 0600)));
  // Who names it in the journal must find it after a power cut too.
  TRY(within("cannot keep evidence", sync_folder(drawer)));
  if (!fresh) return hash;
  TRY(within("cannot keep evidence", sync_folder(drawer.parent_path())));
  TRY(within("cannot keep evidence", sync_folder(folder_)));
  return hash;
}

Result<std::string> Store::evidence(std::string_view hash) const {
  if (!is_evidence_name(hash))
    return Error{Code::kInvalid, "an evidence's name is 64 hexadecimal digits"};
  return read_evidence(folder_, hash);
}

}  // namespace cupel::store
