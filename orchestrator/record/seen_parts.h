#pragma once
// What one machine has reported of its parts, over several runs: of each source (the BMC, a stage)
// the newest reading counts. Pure.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/record/node_record.h"

namespace cupel::record {

class SeenParts {
 public:
  /// A part as one source has reported it.
  struct Report {
    inventory::Part part{};
    std::string source{};    // the step: "bmc-facts", "gpu-facts"
    engine::RunId run = 0;   // in which it was read
    bool is_current = true;  // false: as unread() has it
  };

  /// The node's record of a run, the newest run first. False: no older one is needed, since each
  /// source that lists parts was read, or since this record is of another machine, by its chassis
  /// serial number, and was not taken.
  bool take(const NodeRecord& record, engine::RunId run = 0);

  /// Parts of the sources whose newest try succeeded, the chassis among them (PartKind::system).
  std::vector<inventory::Part> parts() const;

  /// Parts of which it is not known whether they are still there: of the sources that failed in a
  /// newer run than the one that read them, and of kinds that the newest reading could not list in
  /// full, as an older one has them. A part without name and serial number stands for all of its
  /// kind.
  std::vector<inventory::Part> unread() const;

  /// All of them but those that stand for a kind, with what says where they come from; those of
  /// parts() first. The chassis has its model, too.
  std::vector<Report> reports() const;

 private:
  struct Reading {
    std::vector<inventory::Part> parts{};
    std::vector<inventory::PartialList> partial{};
  };
  static std::map<std::string, Reading, std::less<>> readings_of(const NodeRecord& record);

  struct Source {
    bool is_read = false;
    bool failed_since = false;
    std::vector<inventory::Part> parts{};
    std::vector<inventory::PartialList> partial{};  // kinds that no older reading has whole, yet
    std::vector<Report> older{};                    // of kinds that the newest has not whole
    engine::RunId run = 0;                          // of the newest reading
  };
  static void complete(Source& source, const Reading& reading, engine::RunId run);

  bool all_read() const;

  std::map<std::string, Source, std::less<>> sources_{};
  std::optional<NodeRecord> newest_{};  // that has a chassis serial number
  engine::RunId newest_run_ = 0;
};

}  // namespace cupel::record
