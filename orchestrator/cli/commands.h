#pragma once
// Every command, as a row with its options (command_rows.h). Each is in the file of its name, or in
// that of the group that it belongs to.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

CommandRow actions_command(Context& context);
CommandRow approve_command(Context& context);
CommandRow audit_command(Context& context);
CommandRow backup_command(Context& context);
CommandRow baseline_command(Context& context);
CommandRow bmc_command(Context& context);
CommandRow boot_command(Context& context);
CommandRow cancel_command(Context& context);
CommandRow certificate_command(Context& context);
CommandRow check_command(Context& context);
CommandRow completion_command(Context& context);
CommandRow compliance_command(Context& context);
CommandRow continue_command(Context& context);
CommandRow controller_command(Context& context);
CommandRow doctor_command(Context& context);
CommandRow exec_command(Context& context);
CommandRow export_command(Context& context);
CommandRow fabric_command(Context& context);
CommandRow firmware_command(Context& context);
CommandRow follow_command(Context& context);
CommandRow image_command(Context& context);
CommandRow inventory_command(Context& context);
CommandRow login_command(Context& context);
CommandRow logout_command(Context& context);
CommandRow manual_command(Context& context);
CommandRow parts_command(Context& context);
CommandRow pause_command(Context& context);
CommandRow plan_command(Context& context);
CommandRow playbook_command(Context& context);
CommandRow profile_command(Context& context);
CommandRow rack_command(Context& context);
CommandRow rehearse_command(Context& context);
CommandRow report_command(Context& context);
CommandRow requalify_command(Context& context);
CommandRow restore_command(Context& context);
CommandRow resume_command(Context& context);
CommandRow retry_command(Context& context);
CommandRow rma_command(Context& context);
CommandRow run_command(Context& context);
CommandRow serve_command(Context& context);
CommandRow settings_command(Context& context);
CommandRow show_command(Context& context);
CommandRow skip_command(Context& context);
CommandRow slurm_command(Context& context);
CommandRow status_command(Context& context);
CommandRow store_command(Context& context);
CommandRow token_command(Context& context);
CommandRow unpause_command(Context& context);
CommandRow verdict_command(Context& context);
CommandRow verify_command(Context& context);

// Of `fabric`.
CommandRow health_command(Context& context);
CommandRow repaired_command(Context& context);
CommandRow history_command(Context& context);
CommandRow after_swap_command(Context& context);

// Of `firmware`: the ways on from an update that may not be repeated.
CommandRow firmware_continue_command(Context& context);
CommandRow firmware_forget_command(Context& context);
CommandRow firmware_rewrite_command(Context& context);

// Of `firmware`: the manifest of the images that may be written.
CommandRow sign_command(Context& context);
CommandRow digest_command(Context& context);

}  // namespace cupel::cli
