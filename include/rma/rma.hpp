/**
 * @file rma.hpp
 * The C++20 interface of librma. It adds types, spans, owning objects and exceptions to rma.h, and consists
 * of headers only. Programs include this file; each of the headers that it includes holds one part.
 */
#ifndef RMA_RMA_HPP
#define RMA_RMA_HPP

#include "rma/active_messages.hpp"
#include "rma/atomic.hpp"
#include "rma/collectives.hpp"
#include "rma/context.hpp"
#include "rma/error.hpp"
#include "rma/global_ptr.hpp"
#include "rma/job.hpp"
#include "rma/memory.hpp"
#include "rma/messages.hpp"
#include "rma/mutex.hpp"
#include "rma/notify.hpp"
#include "rma/request.hpp"
#include "rma/strided.hpp"
#include "rma/team.hpp"
#include "rma/transfer.hpp"
#include "rma/variables.hpp"
#include "rma/vector.hpp"
#include "rma/words.hpp"

#endif
