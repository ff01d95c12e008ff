#include "orchestrator/store/step_secrets.h"

#include <algorithm>
#include <array>

#include "orchestrator/store/database.h"

namespace cupel::store {
namespace {

constexpr std::size_t kDigits = 32;  // of a ticket: netboot::Ticket

// The last is of a JSON text within a JSON text.
constexpr std::array<std::string_view, 4> kBefore{"/boot/", "/home/", "\"token\":\"",
                                                  R"(\"token\":\")"};

bool is_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// Calls `take` with the place of each run of `kDigits` characters of a kind that stands where a
/// ticket does.
template <class OfKind, class Take>
void each_place(std::string_view text, OfKind of_kind, Take take) {
  for (const auto before : kBefore)
    for (auto at = text.find(before); at != text.npos; at = text.find(before, at)) {
      at += before.size();
      const auto digits = text.substr(at, kDigits);
      if (digits.size() == kDigits && std::ranges::all_of(digits, of_kind)) take(at);
    }
}

}  // namespace

std::string cut_tickets(std::string text) {
  each_place(text, is_digit, [&](std::size_t at) { text.replace(at, kDigits, kDigits, kCut); });
  return text;
}

bool has_cut_ticket(std::string_view text) {
  bool found = false;
  each_place(text, [](char c) { return c == kCut; }, [&](std::size_t) { found = true; });
  return found;
}

Result<void> keep_secret(const Store& store, RunId run, const std::string& id,
                         const std::string& text) {
  return guarded("cannot write a step's secret", [&]() -> Result<void> {
    soci::session sql;
    open_session(sql, store.folder());
    Writing writing{sql};
    sql << "INSERT INTO step_secret (run, id, text) VALUES (:run, :id, :text) ON CONFLICT (run, "
           "id) "
           "DO UPDATE SET text = excluded.text",
        soci::use(run), soci::use(id), soci::use(text);
    writing.commit();
    return ok();
  });
}

Result<std::string> secret(const Store& store, RunId run, const std::string& id) {
  return guarded("cannot read a step's secret", [&]() -> Result<std::string> {
    soci::session sql;
    open_session(sql, store.folder(), Access::read_only);
    std::string text;
    sql << "SELECT text FROM step_secret WHERE run = :run AND id = :id", soci::use(run),
        soci::use(id), soci::into(text);
    if (!sql.got_data())
      return Error{Code::kNotFound, fmt::format("run {} has no secret '{}'", run, id)};
    return text;
  });
}

}  // namespace cupel::store
