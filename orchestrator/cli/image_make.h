#pragma once
// `cupel image build`, `import` and `installer`: images made in the store, each whole or not at
// all.
#include "orchestrator/cli/context.h"

namespace cupel::cli {

/// Where images lie: `--images`, or the state folder's.
std::filesystem::path image_folder(const Context& context, const std::string& reported);

// `folder` must live as long as the row.
CommandRow image_build_command(Context& context, const std::string& folder);
CommandRow image_import_command(Context& context, const std::string& folder);
CommandRow image_installer_command(Context& context, const std::string& folder);

}  // namespace cupel::cli
