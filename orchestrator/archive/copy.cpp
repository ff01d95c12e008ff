#include "orchestrator/archive/copy.h"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "base/digest.h"
#include "base/paths.h"
#include "base/text.h"
#include "orchestrator/store/certificate_note.h"
#include "orchestrator/store/journal_file.h"
#include "orchestrator/store/run_evidence.h"

namespace cupel::archive {
namespace {

namespace fs = std::filesystem;
using store::RunId;

constexpr std::chrono::minutes kPatience{30};  // for one object
constexpr std::int64_t kMostEntries = 5000;    // of the audit log in one piece
constexpr std::size_t kPieceBytes = 4u << 20, kMostNotes = 100'000;

/// For one file, for us alone; goes with its object.
class Scratch {
 public:
  static Result<Scratch> make() {
    auto name = (temporary_folder() / "cupel-archive-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      return Error{Code::kStorage, "cannot make a folder in " + temporary_folder().string()};
    return Scratch{name};
  }
  Scratch(Scratch&& other) noexcept : folder_{std::exchange(other.folder_, {})} {}
  ~Scratch() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  fs::path file() const { return folder_ / "journal"; }

 private:
  explicit Scratch(fs::path folder) : folder_{std::move(folder)} {}
  fs::path folder_;
};

Error other_bytes(const std::string& key, std::string_view there, std::string_view here) {
  return {Code::kConflict,
          fmt::format("{}: the bucket has other bytes of that name, and they were left: SHA-256 {} "
                      "there, {} in the store; another store's copies need another --prefix",
                      key, there, here)};
}

bool is_over(const store::Run& run) {
  return run.phase == store::RunPhase::ended || run.phase == store::RunPhase::cancelled;
}

class Copying {
 public:
  Copying(const store::Store& store, BucketClient& bucket, CopyRequest request, Scratch scratch)
      : store_{store},
        bucket_{bucket},
        request_{std::move(request)},
        scratch_{std::move(scratch)} {}

  Task<Result<CopyReport>> all() {
    CO_TRY(co_await bucket_.reach(deadline()));
    CO_TRY(co_await runs());
    CO_TRY(co_await certificates());
    CO_TRY(co_await audit_log());
    co_return std::move(report_);
  }

 private:
  static Deadline deadline() { return Deadline::in(kPatience); }
  std::string key_of(std::string_view name) const { return request_.prefix + std::string{name}; }

  void fault(std::string what) {
    if (++report_.faults <= kMostFaults) report_.named_faults.push_back(std::move(what));
  }

  /// Bytes that the bucket does not have as the store does.
  void missing(std::string what) {
    ++missing_;
    fault(std::move(what));
  }

  /// Times of one form are ordered as texts.
  void note_retention(const StoredObject& stored) {
    ++(stored.retention ? report_.locked : report_.unlocked);
    if (!stored.retention) return;
    if (!report_.retention || stored.retention->until < report_.retention->until)
      report_.retention = stored.retention;
  }

  /// Of an object that was made with a retention. A server may write fractions of a second.
  void check_retention(const std::string& key, const StoredObject& stored) {
    constexpr std::size_t kSeconds = std::string_view{"2027-12-01T00:00:00"}.size();
    const auto& asked = *request_.retention;
    const bool holds =
        stored.retention && stored.retention->mode == asked.mode &&
        stored.retention->until.substr(0, kSeconds) >= asked.until.substr(0, kSeconds);
    if (holds) return;
    fault(fmt::format(
        "{}: asked was {} until {}, and the server says {}", key, asked.mode, asked.until,
        stored.retention ? stored.retention->mode + " until " + stored.retention->until
                         : "none (nor does it where the key lacks s3:GetObjectRetention)"));
  }

  Task<Result<void>> compare(NewObject object, StoredObject stored, bool is_made) {
    auto there = stored.sha256;
    if (request_.compares || there.empty()) {
      CO_TRY(auto read, co_await bucket_.digest(object.key, deadline()));
      there = read ? read->sha256 : "none";
    }
    note_retention(stored);
    const bool is_same = there == object.sha256;
    if (is_same && !is_made) ++report_.present;
    if (is_same) co_return ok();
    auto error = other_bytes(object.key, there, object.sha256);
    if (!request_.compares) co_return error;
    missing(std::move(error.what));
    co_return ok();
  }

  /// It lies there, or will not: see copy_store().
  Task<Result<void>> ensure(NewObject object) {
    CO_TRY(auto stored, co_await bucket_.look(object.key, deadline()));
    if (!stored && request_.compares) {
      missing(object.key + ": it is not in the bucket");
      co_return ok();
    }
    bool is_made = false;
    if (!stored) {
      auto made = co_await bucket_.put(object, request_.retention, deadline());
      // Another copy may have made it meanwhile, or an answer of ours was lost.
      if (!made && made.error().code != Code::kConflict) co_return made;
      is_made = made.has_value();
      if (is_made) ++report_.copied;
      if (is_made && !request_.retention) co_return ok();
      CO_TRY(stored, co_await bucket_.look(object.key, deadline()));
    }
    if (!stored)
      co_return Error{Code::kFailed, fmt::format("{}: {} says that it has it, and that it has none",
                                                 object.key, bucket_.bucket().who())};
    if (is_made) check_retention(object.key, *stored);
    co_return co_await compare(std::move(object), *std::move(stored), is_made);
  }

  Task<Result<void>> runs() {
    auto chosen = request_.runs;
    if (chosen.empty()) {
      CO_TRY(const auto newest, store_.runs(1));
      const auto last = newest.empty() ? 0 : newest.front().id;
      for (RunId run = 1; run <= last; ++run) chosen.push_back(run);
    }
    for (const auto id : chosen) {
      const auto run = store_.run(id);
      const bool gone = !run && run.error().code == Code::kNotFound && request_.runs.empty();
      if (gone) continue;
      if (!run) co_return run.error();
      if (!is_over(*run)) {
        report_.not_over.push_back(id);
        continue;
      }
      CO_TRY(co_await copy_run(id));
    }
    co_return ok();
  }

  /// What a journal names goes before it: where it lies, the run is whole.
  Task<Result<void>> copy_run(RunId run) {
    const auto journal = store::write_journal(store_, run, scratch_.file());
    const auto named = store::evidence_of(store_, run);
    if (!journal || !named) {
      const auto& error = journal ? named.error() : journal.error();
      fault(fmt::format("run {} is not copied: {}", run, error.what));
      co_return ok();
    }
    const auto before = missing_;
    NewObject object{
        .key = key_of(fmt::format("runs/{}/journal-{}.ndjson", run, journal->events)),
        .sha256 = journal->sha256,
        .metadata = {{"chain-head", fmt::format("{}:{}", journal->events, journal->head)}},
        .load = [file = scratch_.file()]() -> Result<ObjectBody> {
          return ObjectBody{.file = file};
        }};
    CO_TRY(const auto stored, co_await bucket_.look(object.key, deadline()));
    const bool is_whole = stored && stored->sha256 == object.sha256 && !request_.compares;
    if (is_whole) {
      note_retention(*stored);
      ++report_.present;
      ++report_.runs;
      co_return ok();
    }
    for (const auto& hash : *named) {
      CO_TRY(co_await copy_evidence(hash));
    }
    if (missing_ != before && !request_.compares) co_return ok();
    CO_TRY(co_await ensure(std::move(object)));
    if (missing_ == before) ++report_.runs;
    co_return ok();
  }

  Task<Result<void>> copy_evidence(std::string hash) {
    if (copied_.contains(hash)) co_return ok();
    const auto before = missing_;
    std::string lost;
    NewObject object{.key = key_of(fmt::format("evidence/{}/{}", hash.substr(0, 2), hash)),
                     .sha256 = hash,
                     .load = [&]() -> Result<ObjectBody> {
                       auto bytes = store_.evidence(hash);
                       if (bytes) return ObjectBody{.bytes = *std::move(bytes)};
                       lost = bytes.error().what;
                       return bytes.error();
                     }};
    auto done = co_await ensure(std::move(object));
    if (!done && lost.empty()) co_return done;
    if (!lost.empty()) missing(fmt::format("evidence {}: {}", hash, lost));
    if (missing_ == before) copied_.insert(std::move(hash));
    co_return ok();
  }

  Task<Result<void>> certificates() {
    std::set<std::string> given;
    for (const auto& bytes : request_.certificates) {
      const auto sha256 = sha256_hex(bytes);
      given.insert(sha256);
      NewObject object{
          .key = key_of("certificates/" + sha256),
          .sha256 = sha256,
          .load = [&bytes]() -> Result<ObjectBody> { return ObjectBody{.bytes = bytes}; }};
      CO_TRY(co_await ensure(std::move(object)));
    }
    std::set<std::string> issued;
    each_entry(store_.folder() / store::kCertificateFolder, [&](const fs::directory_entry& entry) {
      auto name = entry.path().stem().string();
      const bool is_note = sha256_hex({}).size() == name.size() && issued.size() < kMostNotes &&
                           name.find_first_not_of("0123456789abcdef") == name.npos;
      if (is_note && !given.contains(name)) issued.insert(std::move(name));
    });
    for (const auto& sha256 : issued) {
      CO_TRY(const auto stored,
             co_await bucket_.look(key_of("certificates/" + sha256), deadline()));
      if (!stored) report_.certificates.push_back(sha256);
    }
    co_return ok();
  }

  /// Piece by piece from its beginning, each as long as it was made; then what is new.
  Task<Result<void>> audit_log() {
    CO_TRY(const auto log, store::AuditLog::open(store_.folder()));
    for (auto& at = report_.audit;;) {
      const auto key = key_of(fmt::format("audit/{:012}.ndjson", at.sequence + 1));
      CO_TRY(const auto stored, co_await bucket_.look(key, deadline()));
      auto most = kMostEntries;
      if (stored) {
        CO_TRY(most, entries_in(key, *stored, at.sequence));
      }
      CO_TRY(auto lines, log.lines(at.sequence, most, stored ? std::string::npos : kPieceBytes));
      const auto entries = lines.head.sequence - at.sequence;
      if (stored && entries < most) co_return cut_off(*stored, lines.head);
      if (entries == 0) co_return ok();
      if (!stored && request_.compares) {
        fault(fmt::format("{}: it is not in the bucket, and the audit log goes on to entry {}", key,
                          lines.head.sequence));
        co_return ok();
      }
      const auto head = lines.head;
      auto piece = piece_of(key, std::move(lines));
      auto done = ok();
      if (stored)
        done = co_await compare(std::move(piece), *stored, false);
      else
        done = co_await ensure(std::move(piece));
      // Another copy was quicker, and its piece ends elsewhere: that is looked at next.
      if (!done && !stored && done.error().code == Code::kConflict) continue;
      if (!done) co_return done;
      at = head;
    }
  }

  /// Of a piece that lies there, as it says itself.
  static Result<std::int64_t> entries_in(const std::string& key, const StoredObject& stored,
                                         std::int64_t before) {
    const auto last = number<std::int64_t>(stored.last).value_or(0);
    if (last > before && last - before <= kMostEntries) return last - before;
    return Error{Code::kConflict,
                 fmt::format("{}: it is no piece of an audit log of Cupel: its metadata name entry "
                             "'{}' as its last",
                             key, stored.last)};
  }

  static Error cut_off(const StoredObject& stored, const store::AuditHead& head) {
    const auto there = store::audit_head_of(stored.chain_head);
    return {Code::kConflict,
            fmt::format("the bucket has the audit log up to entry {}, and the store's ends at {}: "
                        "entries were cut off, or the bucket has another store's (--prefix){}",
                        stored.last, head.sequence,
                        there ? "; see cupel store verify --audit-head " + to_string(*there)
                              : std::string{})};
  }

  static NewObject piece_of(const std::string& key, store::AuditLines lines) {
    NewObject object{.key = key,
                     .sha256 = sha256_hex(lines.text),
                     .metadata = {{"last", std::to_string(lines.head.sequence)},
                                  {"chain-head", to_string(lines.head)}}};
    if (lines.before.sequence > 0) object.metadata.emplace_back("before", to_string(lines.before));
    object.load = [text = std::move(lines.text)]() -> Result<ObjectBody> {
      return ObjectBody{.bytes = text};
    };
    return object;
  }

  const store::Store& store_;
  BucketClient& bucket_;
  CopyRequest request_;
  Scratch scratch_;
  CopyReport report_{};
  std::size_t missing_ = 0;
  std::set<std::string> copied_{};  // evidence that several runs name
};

}  // namespace

Task<Result<CopyReport>> copy_store(const store::Store& store, BucketClient& bucket,
                                    CopyRequest request) {
  CO_TRY(auto scratch, Scratch::make());
  Copying copying{store, bucket, std::move(request), std::move(scratch)};
  co_return co_await copying.all();
}

}  // namespace cupel::archive
