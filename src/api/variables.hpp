#pragma once

#include "util/settings.hpp"

namespace librma {

/// Makes the settings of the job those that rma_setting_value returns, until forget_settings().
void note_settings(const Settings& settings);
void forget_settings() noexcept;

}  // namespace librma
