#pragma once
// Reading that goes on: whatever a BMC does not tell, or tells wrongly, costs that one fact and is
// noted, never the machine. Not for verbs that act: those want to fail.
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/for_each_of.h"
#include "base/json.h"
#include "bmc/bmc.h"
#include "bmc/bmc_limits.h"
#include "bmc/redfish/fetch.h"
#include "bmc/redfish/vendors.h"

namespace cupel::bmc::redfish {

/// A resource, and where it was.
struct Document {
  std::string uri;
  json::value body;  // null: it could not be read, and keeps its place among the others
};

class Survey {
 public:
  Survey(Fetch& fetch, Deadline deadline, Observed& seen)
      : fetch_{fetch}, deadline_{deadline}, seen_{seen}, course_{std::make_shared<Course>()} {}

  /// A piece of another survey, to be read beside other pieces: it asks, and stops, as one with
  /// them, and what it sees goes to `apart` until join() puts it in its place. Knows who the
  /// machine is as far as the whole does now.
  Survey(const Survey& whole, Observed& apart)
      : fetch_{whole.fetch_},
        deadline_{whole.deadline_},
        seen_{apart},
        course_{whole.course_},
        kinds_{whole.kinds_} {
    apart.identity = whole.seen_.identity;
  }

  /// What is read from now on lists parts of these kinds: whatever of it cannot be read, the lists
  /// of these kinds are not whole (Observed::partial).
  void lists(std::span<const inventory::PartKind> kinds) {
    kinds_.assign(kinds.begin(), kinds.end());
  }

  /// From now on, reads whole collections in one answer where the service says that it can
  /// ($expand, DSP0266, 7.3.1) and its vendor is known to do it right; and is patient with what is
  /// known to be slow.
  void follow(const Rules& rules, const json::value& root);

  /// The document as it is now, never a kept one; or why there is none. For what nothing goes on
  /// without.
  Task<Result<Document>> need(std::string uri);

  /// What a document holds: parts, or details of parts that are known without it.
  enum class Holds { parts, details };

  /// The document; where there is none, `fact` becomes unknown.
  Task<std::optional<Document>> read(std::string uri, std::string fact, Holds holds = Holds::parts);

  /// The members of a collection, in its order, each read: at most two on their way to the BMC.
  /// What cannot be read is noted, and keeps its place with a null body. Members whose name holds
  /// one of `but` are left out. Follows Members@odata.nextLink, whatever it leads to. What is read
  /// of it is whole only where the collection and each member could be read, and no limit cut it.
  Task<std::vector<Document>> members(std::string collection, std::string fact,
                                      std::span<const std::string_view> but = {});

  /// Just their links.
  Task<std::vector<std::string>> links(std::string collection, std::string fact);

  /// Each of these read, in their order; what cannot be read is noted and has a null body.
  Task<std::vector<Document>> read_all(std::vector<std::string> uris, std::string fact);

  /// Adds what a piece saw behind what is here: parts, unknown facts and the count of requests.
  void join(Observed piece);

  void add(inventory::Part part) { seen_.parts.push_back(std::move(part)); }
  void unknown(std::string fact, std::string source, std::string why);
  /// The lists of the kinds that are read now (lists()) are not whole: `source` was not read.
  /// `passing`: it may be when asked again.
  void not_whole(const std::string& source, const std::string& why, bool passing = false);
  /// The same of these kinds.
  void not_whole(std::span<const inventory::PartKind> kinds, const std::string& source,
                 const std::string& why, bool passing = false);
  /// The link at `path` of a document; empty where there is none. One that is there and leads
  /// nowhere is noted.
  std::string link(const Document& from, std::string_view path);
  /// Notes that the BMC was away meanwhile, where it was: what a service lists that has just
  /// started may not be all. Once, at the end.
  void note_restart();
  /// Notes what parts do not tell though their kind does (facts_of). Once, at the end.
  void note_what_lacks();

  Observed& seen() { return seen_; }
  /// As Fetch::system.
  std::string requested_system() const { return fetch_.system(); }
  /// Set once somebody asked to stop: what was read so far proves nothing.
  const std::optional<Error>& stopped() const { return course_->stopped; }

 private:
  Task<Result<Document>> fetch(std::string uri, bool now = false);
  Task<std::optional<std::vector<Document>>> expanded(std::string collection, std::string fact);
  bool note_links(const Document& page, const std::string& fact);
  void note_cut(const std::string& page, std::size_t pages, std::size_t found,
                const std::string& fact);
  void note_count(const std::string& collection, std::optional<double> counted, std::size_t found,
                  const std::string& fact);
  void lost(const std::string& source, const Error& error);

  /// What all pieces of one survey share.
  struct Course {
    Course();
    Semaphore at_once;
    std::optional<Error> stopped{};
    int silent = 0;              // answers in a row that never came
    std::string away{};          // what it was asked for when it was away; empty: it was not
    std::string expand_query{};  // empty: not here
  };

  Fetch& fetch_;
  Deadline deadline_;
  Observed& seen_;
  std::shared_ptr<Course> course_;
  std::vector<inventory::PartKind> kinds_{};
};

/// Reads `count` pieces side by side, each by `read(piece, index)`. Adds what they saw in the order
/// of their indices, whoever was first, and after each calls `then(index)`.
template <class Read, class Then>
Task<void> read_beside(Survey& survey, std::size_t count, Read read, Then then) {
  constexpr std::size_t kAtOnce = 3;  // one that thinks beside two that wait
  std::vector<Observed> seen(count);
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto one = [](Survey& whole, Observed& apart, Read& act,
                      std::size_t index) -> Task<Result<void>> {
    Survey piece{whole, apart};
    co_await act(piece, index);
    co_return ok();
  };
  const auto piece = [&](std::size_t index) { return one(survey, seen[index], read, index); };
  (void)co_await for_each_of<void>(std::move(all), kAtOnce, piece);
  for (std::size_t i = 0; i < count; ++i) {
    survey.join(std::move(seen[i]));
    then(i);
  }
}

template <class Read>
Task<void> read_beside(Survey& survey, std::size_t count, Read read) {
  co_await read_beside(survey, count, std::move(read), [](std::size_t) {});
}

/// What parts of a kind tell of themselves on most machines: where one does not, that is noted.
/// "serial", "model", "manufacturer", "part number", "firmware", "health", "size", "cores", "MACs",
/// "PCIe link".
std::span<const std::string_view> facts_of(inventory::PartKind kind);
bool tells(const inventory::Part& part, std::string_view fact);

/// The text at `path` as somebody could want to read it: without blanks around it and controls in
/// it; empty for the many ways in which BMCs say nothing ("N/A", "00000000000").
std::string reported(const json::value& body, std::string_view path);

/// The link at `path` ("Processors" of {"Processors": {"@odata.id": ...}}); empty: none that stays
/// on the BMC.
std::string link_at(const json::value& body, std::string_view path);

/// The links in the array at `path`.
std::vector<std::string> links_at(const json::value& body, std::string_view path);

/// The rows of an array within a document, as documents of their own (".../Power#/PowerSupplies/0",
/// or as the row calls itself). A row that is none keeps its place with a null body.
std::vector<Document> rows_of(Survey& survey, const Document& from, std::string_view array,
                              std::string_view fact);

/// Whether a slot is empty. Source: DSP0268, Status.State.
bool is_absent(const json::value& body);

/// "GPU2" before "GPU10".
bool natural_less(std::string_view left, std::string_view right);

/// A part with what nearly every resource tells in the same words.
inventory::Part part_of(inventory::PartKind kind, std::string name, const Document& from);

}  // namespace cupel::bmc::redfish
