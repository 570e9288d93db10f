#pragma once
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <gnutls/ocsp.h>
#include <gnutls/crypto.h>

// gnutls_free is a variable that holds a function.
static inline void upcast_gnutls_free_datum(gnutls_datum_t *datum) { gnutls_free(datum->data); }
