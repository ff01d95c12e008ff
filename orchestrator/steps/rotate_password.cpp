// The BMC's password, from the factory's to the inventory's. The note about a change that was begun
// lies in the store beside the pins: both are what this admin node knows of a BMC.
#include "inventory/node.h"
#include "inventory/secret.h"
#include "orchestrator/steps/node_steps.h"

namespace cupel::steps {
namespace {

using bmc::RotationNote;

std::string note_name(const inventory::Node& node) { return "rotation:" + node.name; }

bmc::RotationDoors doors_for(StepEnvironment& environment, const inventory::Node& node,
                             std::string secret) {
  bmc::RotationDoors rotation{
      .node = node.name, .user = node.bmc.user, .new_password = std::move(secret)};
  rotation.with_new = [&environment, &node] { return environment.bmc(node); };
  rotation.with_old = [&environment, &node] { return environment.bmc_as(node, *node.bmc.factory); };
  rotation.note = [&environment, &node]() -> Result<std::optional<RotationNote>> {
    const auto text = environment.store.pinned(note_name(node));
    return text ? std::optional{bmc::rotation_note_of(*text)} : std::nullopt;
  };
  rotation.write_note = [&environment, &node](std::optional<RotationNote> note) {
    return environment.store.repin(note_name(node), note ? to_text(*note) : std::string{});
  };
  rotation.forget_refusals = [&environment, &node] {
    if (environment.forget_refusals) environment.forget_refusals(node);
  };
  return rotation;
}

}  // namespace

Task<Result<bmc::Rotated>> rotate_bmc_password(StepEnvironment& environment,
                                               const inventory::Node& node, bool again,
                                               Deadline deadline) {
  if (!node.bmc.factory || !environment.bmc_as)
    co_return Error{Code::kInvalid, node.name +
                                        ": the inventory names no factory login to change "
                                        "from (bmc: {factory: {user, password}})"};
  CO_TRY(auto secret, co_await inventory::resolve_secret(node.bmc.password, deadline));
  auto rotation = doors_for(environment, node, std::move(secret));
  if (again) {
    CO_TRY(const auto note, rotation.note());
    if (note) {
      CO_TRY(rotation.write_note(RotationNote{note->digest, 0}));
    }
    rotation.forget_refusals();
  }
  auto rotated = co_await bmc::rotate_password(std::move(rotation), deadline);
  co_return within("BMC password", std::move(rotated));
}

}  // namespace cupel::steps
