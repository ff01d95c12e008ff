#pragma once
// The rows of the table, each in the file of its name.
#include "orchestrator/steps/step_type.h"

namespace cupel::steps::kinds {

StepType bmc_password();
StepType slurm_drain();
StepType slurm_hold();
StepType bmc_facts();
StepType bmc_clear();
StepType bios_reset();
StepType firmware();
StepType machine_settings();
StepType boot_once();
StepType os();
StepType boot_ram();
StepType power_on();
StepType power_off();
StepType power_cycle();
StepType ssh_wait();
StepType node_firmware();
StepType stage();
StepType audit();
StepType verdict();
StepType hand_off();
StepType slurm_job();
StepType approval();

}  // namespace cupel::steps::kinds
