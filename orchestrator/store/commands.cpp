// What people ask of runs: kept until the run's controller takes it.
#include <fmt/format.h>

#include "base/text.h"
#include "orchestrator/store/database.h"

namespace cupel::store {
namespace {

constexpr std::size_t kLongestText = 4096;  // bytes; a reason is a sentence

using engine::Command;

}  // namespace

Result<std::int64_t> Store::ask(const Command& command) {
  for (const auto* text : {&command.node, &command.step, &command.text, &command.by})
    if (text->size() > kLongestText)
      return Error{Code::kInvalid,
                   fmt::format("a command's text has at most {} bytes", kLongestText)};
  auto& sql = database_->sql;
  return guarded("cannot write down what was asked", [&]() -> Result<std::int64_t> {
    Writing writing{sql};
    int known = 0;
    sql << "SELECT COUNT(*) FROM run WHERE id = :run", soci::use(command.run), soci::into(known);
    if (known == 0)
      return Error{Code::kNotFound, fmt::format("there is no run {} in {}: see cupel status",
                                                command.run, folder_.string())};
    const std::string kind{to_string(command.kind)};
    // Typed by a person, whatever the terminal's encoding: it becomes part of an event.
    const auto node = valid_utf8(command.node);
    const auto step = valid_utf8(command.step);
    const auto text = valid_utf8(command.text);
    const auto by = valid_utf8(command.by);
    const auto at = count_of(database_->wall());
    std::int64_t id = 0;
    sql << "INSERT INTO command (run, kind, node, step, reason, asked_by, at) "
           "VALUES (:run, :kind, :node, :step, :reason, :asked_by, :at) RETURNING id",
        soci::use(command.run), soci::use(kind), soci::use(node), soci::use(step), soci::use(text),
        soci::use(by), soci::use(at), soci::into(id);
    writing.commit();
    return id;
  });
}

Result<std::vector<Command>> Store::commands(RunId run, std::int64_t after) const {
  auto& sql = database_->sql;
  return guarded("cannot read what was asked", [&]() -> Result<std::vector<Command>> {
    std::vector<Command> found;
    Command each;
    std::string kind;
    std::int64_t at = 0;
    soci::statement rows =
        (sql.prepare << "SELECT id, kind, node, step, reason, asked_by, at FROM command WHERE run "
                        "= :run AND id > :after ORDER BY id",
         soci::use(run), soci::use(after), soci::into(each.id), soci::into(kind),
         soci::into(each.node), soci::into(each.step), soci::into(each.text), soci::into(each.by),
         soci::into(at));
    rows.execute();
    while (rows.fetch()) {
      const auto known = engine::command_kind(kind);
      if (!known)
        return Error{Code::kStorage,
                     fmt::format("command {} of run {} is one that this Cupel does not know: '{}'; "
                                 "a newer one wrote it: use that one",
                                 each.id, run, kind)};
      each.run = run;
      each.kind = *known;
      each.at = time_of(at);
      found.push_back(each);
    }
    return found;
  });
}

}  // namespace cupel::store
