#include "orchestrator/steps/step_type.h"

#include <array>

#include "orchestrator/steps/kinds/kinds.h"
#include "playbooks/step_kind.h"

namespace cupel::steps {

std::span<const StepType> step_types() {
  static const std::array kTypes{
      kinds::slurm_hold(),  kinds::bmc_password(),     kinds::slurm_drain(),
      kinds::bmc_facts(),   kinds::bmc_clear(),        kinds::firmware(),
      kinds::boot_once(),   kinds::power_on(),         kinds::power_off(),
      kinds::power_cycle(), kinds::ssh_wait(),         kinds::stage(),
      kinds::audit(),       kinds::verdict(),          kinds::hand_off(),
      kinds::approval(),    kinds::machine_settings(), kinds::os(),
      kinds::boot_ram(),    kinds::node_firmware(),    kinds::slurm_job(),
      kinds::bios_reset(),
  };
  return kTypes;
}

const StepType& step_type(playbooks::StepKind kind) {
  return *std::ranges::find(step_types(), kind, &StepType::kind);
}

}  // namespace cupel::steps
