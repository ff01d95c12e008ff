#include "bmc/redfish/survey.h"

#include <array>

#include "base/text.h"
#include "bmc/redfish/document.h"
#include "bmc/redfish/uri.h"

namespace cupel::bmc::redfish {
namespace {

constexpr std::size_t kMostPages = 400;
constexpr std::size_t kMostMembers = 4000;
constexpr std::size_t kMostUnknown = 2000;
/// The largest machine that was seen takes 350; what takes more leads in circles.
constexpr int kMostRequests = 10'000;
constexpr int kSilentAtMost = 3;
// One more than a BMC is asked at a time: the next question is there when an answer comes, and the
// transport keeps the second connection while it is needed. No more than that: whoever else talks
// to the BMC would wait behind all of them.
constexpr std::size_t kAtOnce = 3;

/// What another reading may bring: a service that is busy, restarts, or broke off.
bool may_pass(Code code) {
  return is_transient(code) || code == Code::kFailed || code == Code::kMalformed ||
         code == Code::kRefused;
}

bool is_silence(Code code) { return code == Code::kTimeout || code == Code::kUnreachable; }

/// What is worth saying of an error behind the URI, which stands beside it anyway.
std::string reason_of(const Error& error) {
  const auto http = error.what.find("HTTP ");
  return shortened(http == std::string::npos ? error.what : error.what.substr(http), 200);
}

}  // namespace

Survey::Course::Course() : at_once{static_cast<int>(kAtOnce)} {}

Task<Result<Document>> Survey::fetch(std::string uri, bool now) {
  auto place = co_await course_->at_once.enter(deadline_);
  const bool stop = co_await cancelled();
  auto& stopped = course_->stopped;
  if (stop) stopped = Error{Code::kCancelled, "stopped while reading " + uri};
  if (stopped) co_return *stopped;
  if (!is_on_the_bmc(uri)) co_return Error{Code::kMalformed, "a link that leads off the BMC"};
  if (course_->silent >= kSilentAtMost)
    co_return Error{Code::kUnreachable, "not asked: the BMC stopped answering"};
  if (!place || deadline_.passed()) co_return Error{Code::kTimeout, "not asked: out of time"};
  if (seen_.requests >= kMostRequests)
    co_return Error{Code::kMalformed, "not asked: too many requests already"};
  ++seen_.requests;
  auto question = now ? fetch_.get_now(uri, deadline_) : fetch_.get(uri, deadline_);
  auto answer = co_await std::move(question);
  if (!answer) {
    Error error = std::move(answer).error();
    course_->silent = is_silence(error.code) ? course_->silent + 1 : 0;
    // One alone is a resource that is never answered.
    if (error.code == Code::kUnreachable && course_->silent > 1) course_->away = uri;
    if (error.code == Code::kCancelled || error.code == Code::kUntrusted) stopped = error;
    co_return error;
  }
  course_->silent = 0;
  if (!answer->is_object()) co_return Error{Code::kMalformed, "not a JSON object"};
  co_return Document{std::move(uri), *std::move(answer)};
}

Task<Result<Document>> Survey::need(std::string uri) { return fetch(std::move(uri), true); }

Task<std::optional<Document>> Survey::read(std::string uri, std::string fact, Holds holds) {
  auto answer = co_await fetch(uri);
  if (answer) co_return *std::move(answer);
  if (holds == Holds::parts) lost(uri, answer.error());
  unknown(std::move(fact), std::move(uri), reason_of(answer.error()));
  co_return std::nullopt;
}

/// A collection that does not list its members, or lists some that are no links, has lost them.
/// True where it has lost some.
bool Survey::note_links(const Document& page, const std::string& fact) {
  const auto has_lost = [&](std::string why) {
    not_whole(page.uri, why, true);
    unknown(fact, page.uri, std::move(why));
    return true;
  };
  const auto* members = find(page.body, "Members");
  const auto* list = members == nullptr ? nullptr : members->if_array();
  if (list == nullptr) {
    const bool is_null = members != nullptr && members->is_null();
    return has_lost(is_null ? "Members is null" : "lists no Members");
  }
  const auto no_link = [](const json::value& one) {
    return path_of(text_at(one, "@odata.id").value_or("")).empty();
  };
  bool is_short = false;
  const auto none = std::ranges::count_if(*list, no_link);
  if (none > 0) is_short = has_lost(std::to_string(none) + " of its members are no links");
  const auto* next = find(page.body, "Members@odata.nextLink");
  if (next != nullptr && path_of(text_at(page.body, "Members@odata.nextLink").value_or("")).empty())
    is_short = has_lost("the next page is no link");
  return is_short;
}

/// Pages that were left unread: `page` is the next one.
void Survey::note_cut(const std::string& page, std::size_t pages, std::size_t found,
                      const std::string& fact) {
  std::string why = "its pages lead in circles";
  if (found >= kMostMembers)
    why = "more than " + std::to_string(kMostMembers) + " members: the rest is not read";
  else if (pages >= kMostPages)
    why = "more than " + std::to_string(kMostPages) + " pages: the rest is not read";
  not_whole(page, why);
  unknown(fact, page, std::move(why));
}

/// A list of all pages that is shorter than the collection says.
void Survey::note_count(const std::string& collection, std::optional<double> counted,
                        std::size_t found, const std::string& fact) {
  if (!counted || *counted <= static_cast<double>(found)) return;
  constexpr std::string_view kWhy = "fewer members than it counts";
  not_whole(collection, std::string{kWhy}, true);
  unknown(fact, collection, std::string{kWhy});
}

Task<std::vector<std::string>> Survey::links(std::string collection, std::string fact) {
  std::vector<std::string> found;
  std::set<std::string> known, pages;
  const std::string whole = collection;
  std::string page = std::move(collection);
  std::optional<double> counted;
  bool is_short = false;
  // A page that was there before, or brings nothing new, is where a sick BMC would go in circles.
  while (!page.empty()) {
    const bool again = pages.contains(page);
    if (again || pages.size() >= kMostPages || found.size() >= kMostMembers) {
      note_cut(page, pages.size(), found.size(), fact);
      co_return found;
    }
    pages.insert(page);
    const auto document = co_await read(page, fact);
    if (!document) co_return found;
    is_short = note_links(*document, fact) || is_short;
    if (!counted) counted = number_at(document->body, "Members@odata.count");
    const auto before = found.size();
    for (auto& link : links_at(document->body, "Members")) {
      if (found.size() < kMostMembers && known.insert(normal(link)).second)
        found.push_back(std::move(link));
    }
    const auto next = text_at(document->body, "Members@odata.nextLink");
    page = next ? path_of(*next) : std::string{};
    if (before == found.size()) break;
  }
  if (!page.empty()) note_cut(page, pages.size(), found.size(), fact);
  if (page.empty() && !is_short) note_count(whole, counted, found.size(), fact);
  co_return found;
}

/// What is behind the last page or member that is read is missed, and said to be.
void Survey::follow(const Rules& rules, const json::value& root) {
  fetch_.follow(rules);
  const auto* offered = find(root, "ProtocolFeaturesSupported/ExpandQuery");
  const auto yes = [&](const char* what) {
    return offered != nullptr && flag_at(*offered, what) == true;
  };
  course_->expand_query.clear();
  // One that remembers what it read asks for single resources: their tags are worth more.
  const bool trusted = rules.expands && !fetch_.remembers();
  if (trusted && yes("NoLinks"))
    course_->expand_query = yes("Levels") ? "?$expand=.($levels=1)" : "?$expand=.";
}

/// All pages with their members in them; a member that lacks what every resource has (DSP0266, 9.6:
/// Id and Name) comes as a link alone. Nothing where the BMC does not answer such a question.
Task<std::optional<std::vector<Document>>> Survey::expanded(std::string collection,
                                                            std::string fact) {
  std::vector<Document> found;
  std::set<std::string> known, pages;
  std::string page = collection + course_->expand_query;
  std::optional<double> counted;
  bool is_short = false;
  while (!page.empty()) {
    const bool again = pages.contains(page);
    if (again || pages.size() >= kMostPages || found.size() >= kMostMembers) {
      note_cut(page, pages.size(), found.size(), fact);
      co_return found;
    }
    pages.insert(page);
    auto answer = co_await fetch(page, true);
    const auto* list = answer ? find(answer->body, "Members") : nullptr;
    if (list == nullptr || !list->is_array()) {
      if (found.empty()) course_->expand_query.clear();
      if (found.empty()) co_return std::nullopt;
      if (answer)
        not_whole(page, "lists no Members", true);
      else
        lost(page, answer.error());
      unknown(fact, page, answer ? "lists no Members" : reason_of(answer.error()));
      co_return found;
    }
    is_short = note_links(*answer, fact) || is_short;
    if (!counted) counted = number_at(answer->body, "Members@odata.count");
    const auto before = found.size();
    for (const auto& one : list->get_array()) {
      const auto uri = path_of(text_at(one, "@odata.id").value_or(""));
      if (uri.empty() || found.size() >= kMostMembers || !known.insert(normal(uri)).second)
        continue;
      const bool whole = text_at(one, "Id") && text_at(one, "Name");
      found.push_back({uri, whole ? one : json::value{}});
    }
    const auto next = text_at(answer->body, "Members@odata.nextLink");
    page = next ? path_of(*next) : std::string{};
    if (before == found.size()) break;
  }
  if (!page.empty()) note_cut(page, pages.size(), found.size(), fact);
  if (page.empty() && !is_short) note_count(collection, counted, found.size(), fact);
  co_return found;
}

Task<std::vector<Document>> Survey::members(std::string collection, std::string fact,
                                            std::span<const std::string_view> but) {
  if (collection.empty()) co_return std::vector<Document>{};
  const auto left_out = [&](const std::string& uri) {
    return std::ranges::any_of(
        but, [&](auto word) { return last_name(uri).find(word) != std::string_view::npos; });
  };
  if (!course_->expand_query.empty()) {
    auto whole = co_await expanded(collection, fact);
    if (whole) {
      std::erase_if(*whole, [&](const Document& one) { return left_out(one.uri); });
      std::vector<std::string> singly;
      for (const auto& one : *whole)
        if (one.body.is_null()) singly.push_back(one.uri);
      auto read = co_await read_all(std::move(singly), std::move(fact));
      for (auto& one : *whole)
        for (auto& other : read)
          if (one.body.is_null() && one.uri == other.uri)
            take_over(one.body, std::move(other.body));
      co_return std::move(*whole);
    }
  }
  auto uris = co_await links(std::move(collection), fact);
  std::erase_if(uris, left_out);
  co_return co_await read_all(std::move(uris), std::move(fact));
}

Task<std::vector<Document>> Survey::read_all(std::vector<std::string> uris, std::string fact) {
  const auto sources = uris;
  const auto read_one = [this](const std::string& uri) { return fetch(uri); };
  auto answers = co_await for_each_of<Document>(std::move(uris), kAtOnce, read_one);
  std::vector<Document> found;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i]) {
      found.push_back(*std::move(answers[i]));
    } else {
      lost(sources[i], answers[i].error());
      unknown(fact + " " + std::string{last_name(sources[i])}, sources[i],
              reason_of(answers[i].error()));
      found.push_back({sources[i], nullptr});
    }
  }
  co_return found;
}

void Survey::join(Observed piece) {
  seen_.requests += piece.requests;
  seen_.parts.insert(seen_.parts.end(), std::make_move_iterator(piece.parts.begin()),
                     std::make_move_iterator(piece.parts.end()));
  for (auto& one : piece.unknown)
    if (seen_.unknown.size() < kMostUnknown) seen_.unknown.push_back(std::move(one));
  for (auto& one : piece.partial) add_partial(seen_.partial, std::move(one));
}

void Survey::not_whole(const std::string& source, const std::string& why, bool passing) {
  not_whole(kinds_, source, why, passing);
}

void Survey::not_whole(std::span<const inventory::PartKind> kinds, const std::string& source,
                       const std::string& why, bool passing) {
  for (const auto kind : kinds)
    add_partial(seen_.partial, {kind, printable(source), printable(why), passing});
}

void Survey::lost(const std::string& source, const Error& error) {
  not_whole(source, reason_of(error), may_pass(error.code));
}

void Survey::unknown(std::string fact, std::string source, std::string why) {
  if (seen_.unknown.size() < kMostUnknown)
    seen_.unknown.push_back({printable(fact), printable(source), printable(why)});
}

std::string Survey::link(const Document& from, std::string_view path) {
  auto uri = link_at(from.body, path);
  if (uri.empty() && find(from.body, path) != nullptr)
    unknown(std::string{path}, from.uri, "no link within the BMC");
  return uri;
}

void Survey::note_restart() {
  if (course_->away.empty()) return;
  not_whole(inventory::kCountedKinds, course_->away,
            "the BMC did not answer for a while: it may have restarted", true);
}

void Survey::note_what_lacks() {
  for (const auto& part : seen_.parts)
    for (const auto fact : facts_of(part.kind))
      if (!tells(part, fact))
        unknown(std::string{fact} + " of " + part.name, part.source, "absent");
}

}  // namespace cupel::bmc::redfish
