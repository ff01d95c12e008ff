#pragma once
// The numbers of the journal as a table beside it, so that "every gemm.bf16.rate of this profile"
// is one query. Written in the transaction of the event that holds them; nothing is ever proven by
// it: the journal is, and the table can be made of it again. SQL reads the view `measurements`. For
// nobody but the store; others ask orchestrator/store/measured.h.
#include <map>
#include <tuple>

#include "base/json.h"
#include "orchestrator/store/database.h"

namespace cupel::store {

/// A number as an event holds it.
struct EventNumber {
  std::string stage{};
  std::string subject{};  // inventory/subject.h
  std::string measure{};
  std::string unit{};
  double value = 0;
  std::int64_t place = 0;  // which one of the event

  friend bool operator==(const EventNumber&, const EventNumber&) = default;
};

/// What one event holds that ended a step: what its stage measured, and what was read of the BMC's
/// log beside it. Of a step that several nodes did together, each node's own from the evidence.
/// What is no finite number, or names no valid subject, is left out.
class EventNumbers {
 public:
  EventNumbers(soci::session& sql, std::filesystem::path folder)
      : sql_{sql}, folder_{std::move(folder)} {}
  std::vector<EventNumber> of(const EventRow& row, const json::object& data);

 private:
  const json::object& shared(const std::string& hash);

  soci::session& sql_;
  std::filesystem::path folder_;
  std::string shared_hash_{};
  json::object shared_{};  // the newest: events of a group come one after another
};

/// Fills the table. Knows what it wrote: one that was used in a transaction that failed is not used
/// again. Throws what SOCI throws.
class MeasurementTable {
 public:
  MeasurementTable(soci::session& sql, const std::filesystem::path& folder);
  MeasurementTable(const MeasurementTable&) = delete;
  MeasurementTable& operator=(const MeasurementTable&) = delete;

  void take(RunId run, const EventRow& row, const json::object& data);
  /// What take() has gathered. Before the transaction's end.
  void write();

 private:
  using Id = std::int64_t;
  using Profiles = std::map<std::string, std::string, std::less<>>;  // by node

  Id name(const std::string& text);
  Id series(Id stage, Id measure, Id unit, Id profile);
  Id profile_of(RunId run, const std::string& node);
  void keep_profiles(RunId run, const json::object& started);
  void add(RunId run, const EventRow& row, const EventNumber& number);
  void judge(RunId run, const EventRow& row, const json::object& checked);

  struct Row {
    Id run = 0, sequence = 0, series = 0, subject = 0, place = 0;
    double value = 0;
  };
  struct Insert : Row {
    explicit Insert(soci::session& sql);
    soci::statement statement;
  };
  struct Judge {
    explicit Judge(soci::session& sql);
    Id run = 0, stage = 0, measure = 0, profile = 0, subject = 0, criterion = 0;
    soci::statement statement;
  };

  soci::session& sql_;
  EventNumbers numbers_;
  std::map<std::string, Id, std::less<>> names_{};
  std::map<std::tuple<Id, Id, Id, Id>, Id> series_{};
  std::map<RunId, Profiles> profiles_{};
  std::vector<Row> gathered_{};       // where the engine takes arrays
  std::unique_ptr<Insert> insert_{};  // where it does not
  Judge judge_;
};

/// The table of a store that had none. Throws what SOCI throws.
void fill_measurements(soci::session& sql, const std::filesystem::path& folder);

/// The values that the table has of a run, by event, in their order. Throws what SOCI throws.
std::map<std::int64_t, std::vector<double>> table_values(soci::session& sql, RunId run);

/// Names and series that no measurement has any more go. Throws what SOCI throws.
void remove_unused_names(soci::session& sql);

}  // namespace cupel::store
