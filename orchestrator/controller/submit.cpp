#include "orchestrator/controller/submit.h"

#include <fmt/format.h>

#include "base/paths.h"
#include "orchestrator/controller/run_status.h"
#include "orchestrator/controller/state_folder.h"

namespace cupel::controller {
namespace {

using engine::RunPhase;
using store::ControllerLock;

/// Whether the secrets can be had, said before anything is written.
Result<void> check_secrets_of(const Planned& planned, store::Store& store) {
  Connections connections{planned.inventory, store};
  std::vector<const inventory::Node*> nodes;
  for (const auto& each : planned.plan.nodes) nodes.push_back(each.node);
  return connections.check_secrets(nodes);
}

/// Nothing where another process is the controller, or is to be. Errors: kStorage.
Result<std::optional<ControllerLock>> lock_if_here(Where where, const store::Store& store) {
  if (where == Where::background) return std::nullopt;
  auto lock = ControllerLock::take(store.folder());
  if (lock) return std::optional{*std::move(lock)};
  if (lock.error().code == Code::kConflict) return std::nullopt;
  return std::move(lock).error();
}

store::Run row_of(const Planned& planned, const Submission& submission) {
  store::Run run;
  run.playbook = planned.playbook.name;
  run.playbook_file = planned.playbook.file;
  run.playbook_text = planned.playbook.text;
  run.inventory_file = absolute_path(planned.inventory.file).string();
  run.inventory_digest = planned.inventory.digest;
  for (const auto& each : planned.plan.nodes) run.nodes.push_back(each.node->name);
  auto options = with({}, submission.flags);
  options.rehearsal = is_of_virtual_rack(planned.inventory.file);
  options.begun_by = submission.begun_by;
  options.request = submission.request;
  run.options = to_text(options);
  return run;
}

/// A journal that is damaged says itself what helps; else it is the disk.
Error cannot_write(const store::Store& store, engine::RunId run, const Error& error) {
  const auto damaged = store.broken_at(run);
  const bool whole = damaged && !*damaged;
  return Error{
      Code::kStorage,
      fmt::format("{}. Nothing more was started, and what was written is kept{}", error.what,
                  whole ? fmt::format(". Make room, then: cupel resume {}", run) : "")};
}

}  // namespace

Result<Submitted> submit(store::Store& store, const Planned& planned,
                         const Submission& submission) {
  TRY(check_secrets_of(planned, store));
  Submitted submitted;
  TRY(auto lock, lock_if_here(submission.where, store));
  submitted.run = row_of(planned, submission);
  submitted.run.phase = lock ? RunPhase::running : RunPhase::submitted;
  TRY(submitted.run.id, store.begin_run(submitted.run));
  if (lock) submitted.lock.emplace(*std::move(lock));
  return submitted;
}

Result<Submitted> submit_again(store::Store& store, const Planned& planned, store::Run run,
                               const Submission& submission) {
  TRY(auto lock, lock_if_here(submission.where, store));
  Submitted submitted;
  submitted.at_work = !lock && find(read_status(store.folder()), run.id) != nullptr;
  submitted.run = std::move(run);
  if (submitted.at_work) return submitted;
  auto& mine = submitted.run;
  mine.options = to_text(with(run_options_of(mine.options), submission.flags));
  TRY(store.keep_options(mine.id, mine.options));
  if (lock) {
    submitted.lock.emplace(*std::move(lock));
    return submitted;
  }
  TRY(check_secrets_of(planned, store));
  TRY(store.submit_again(mine.id));
  return submitted;
}

Result<Submitted> take_over(const store::Store& store, store::Run run) {
  TRY(auto lock, ControllerLock::take(store.folder()));
  Submitted submitted;
  submitted.run = std::move(run);
  submitted.lock.emplace(std::move(lock));
  return submitted;
}

Result<void> drive(Front& front, store::Store& store, std::unique_ptr<Planned> planned,
                   Submitted submitted, Settings settings) {
  if (!submitted.lock)
    return Error{Code::kInvalid, fmt::format("run {} is another process's", submitted.run.id)};
  Controller drives{front, store, std::move(settings)};
  TRY(drives.add(std::move(planned), submitted.run));
  const auto ran = drives.work();
  if (!ran && ran.error().code == Code::kStorage)
    return cannot_write(store, submitted.run.id, ran.error());
  return ok();
}

}  // namespace cupel::controller
