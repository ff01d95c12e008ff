#pragma once
// Reading that goes on: whatever a BMC does not tell, or tells wrongly, costs that one fact and is
// noted, never the machine. Not for verbs that act: those want to fail.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "bmc/bmc.h"
#include "bmc/redfish/fetch.h"

namespace cupel::bmc::redfish {

/// A resource, and where it was.
struct Document {
  std::string uri;
  json::value body;
};

class Survey {
 public:
  Survey(Fetch& fetch, Deadline deadline, Observed& seen)
      : fetch_{fetch}, deadline_{deadline}, seen_{seen} {}

  /// The document, or why there is none. For what nothing goes on without.
  Task<Result<Document>> need(std::string uri);

  /// The document; where there is none, `fact` becomes unknown.
  Task<std::optional<Document>> read(std::string uri, std::string fact);

  /// The members of a collection, in its order, each read: at most two at a time. Members whose
  /// name holds one of `but` are left out. Follows Members@odata.nextLink, whatever it leads to.
  Task<std::vector<Document>> members(std::string collection, std::string fact,
                                      std::span<const std::string_view> but = {});

  /// Just their links.
  Task<std::vector<std::string>> links(std::string collection, std::string fact);

  /// Each of these read, in their order; what cannot be read is noted and left out.
  Task<std::vector<Document>> read_all(std::vector<std::string> uris, std::string fact);

  /// Notes a part; where it has no serial number though its kind has them, notes that too.
  void add(inventory::Part part);
  void unknown(std::string fact, std::string source, std::string why);

  Observed& seen() { return seen_; }
  /// Set once somebody asked to stop: what was read so far proves nothing.
  const std::optional<Error>& stopped() const { return stopped_; }

 private:
  Task<Result<Document>> fetch(std::string uri);

  Fetch& fetch_;
  Deadline deadline_;
  Observed& seen_;
  std::optional<Error> stopped_{};
  int silent_ = 0;  // answers in a row that never came
};

/// The text at `path` as somebody could want to read it: without blanks around it and controls in
/// it; empty for the many ways in which BMCs say nothing ("N/A", "00000000000").
std::string told(const json::value& body, std::string_view path);

/// The link at `path` ("Processors" of {"Processors": {"@odata.id": ...}}); empty: none that stays
/// on the BMC.
std::string link_at(const json::value& body, std::string_view path);

/// The links in the array at `path`.
std::vector<std::string> links_at(const json::value& body, std::string_view path);

/// Whether a slot is empty. Source: DSP0268, Status.State.
bool is_absent(const json::value& body);

/// "GPU2" before "GPU10".
bool natural_less(std::string_view left, std::string_view right);

/// A part with what nearly every resource tells in the same words.
inventory::Part part_of(inventory::PartKind kind, std::string name, const Document& from);

}  // namespace cupel::bmc::redfish
