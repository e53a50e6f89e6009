/** Generated from the OpenAPI document by scripts/generate.ts. Not to be edited. */
export interface paths {
    "/v1/audit_log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAuditRecords"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit_log/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAuditRecord"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auto_top_ups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listAutoTopUps"];
        put?: never;
        post: operations["createAutoTopUp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auto_top_ups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getAutoTopUp"];
        put?: never;
        post?: never;
        delete: operations["deleteAutoTopUp"];
        options?: never;
        head?: never;
        patch: operations["updateAutoTopUp"];
        trace?: never;
    };
    "/v1/book_checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listBookChecks"];
        put?: never;
        post: operations["createBookCheck"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/book_checks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getBookCheck"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/coupons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCoupons"];
        put?: never;
        post: operations["createCoupon"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/coupons/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCoupon"];
        put?: never;
        post?: never;
        delete: operations["deleteCoupon"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCreditAlerts"];
        put?: never;
        post: operations["createCreditAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_alerts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCreditAlert"];
        put?: never;
        post?: never;
        delete: operations["deleteCreditAlert"];
        options?: never;
        head?: never;
        patch: operations["updateCreditAlert"];
        trace?: never;
    };
    "/v1/customers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCustomers"];
        put?: never;
        post: operations["createCustomer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/customers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCustomer"];
        put?: never;
        post?: never;
        delete: operations["deleteCustomer"];
        options?: never;
        head?: never;
        patch: operations["updateCustomer"];
        trace?: never;
    };
    "/v1/disputes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDisputes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/disputes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getDispute"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoice_items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listInvoiceItems"];
        put?: never;
        post: operations["createInvoiceItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoice_items/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getInvoiceItem"];
        put?: never;
        post?: never;
        delete: operations["deleteInvoiceItem"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoice_proofs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listInvoiceProofs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoice_proofs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getInvoiceProof"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payment_methods": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPaymentMethods"];
        put?: never;
        post: operations["createPaymentMethod"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payment_methods/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPaymentMethod"];
        put?: never;
        post?: never;
        delete: operations["deletePaymentMethod"];
        options?: never;
        head?: never;
        patch: operations["updatePaymentMethod"];
        trace?: never;
    };
    "/v1/plan_migrations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPlanMigrations"];
        put?: never;
        post: operations["createPlanMigration"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plan_migrations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPlanMigration"];
        put?: never;
        post?: never;
        delete: operations["deletePlanMigration"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rate_cards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRateCards"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/rate_cards/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getRateCard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/redemptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRedemptions"];
        put?: never;
        post: operations["createRedemption"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/redemptions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getRedemption"];
        put?: never;
        post?: never;
        delete: operations["deleteRedemption"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/refunds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRefunds"];
        put?: never;
        post: operations["createRefund"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/refunds/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getRefund"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spend_alerts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSpendAlerts"];
        put?: never;
        post: operations["createSpendAlert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/spend_alerts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSpendAlert"];
        put?: never;
        post?: never;
        delete: operations["deleteSpendAlert"];
        options?: never;
        head?: never;
        patch: operations["updateSpendAlert"];
        trace?: never;
    };
    "/v1/test_clocks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTestClocks"];
        put?: never;
        post: operations["createTestClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/test_clocks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTestClock"];
        put?: never;
        post?: never;
        delete: operations["deleteTestClock"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/token_usages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTokenUsages"];
        put?: never;
        post: operations["createTokenUsage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/token_usages/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTokenUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/top_ups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listTopUps"];
        put?: never;
        post: operations["createTopUp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/top_ups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getTopUp"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/catalog/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["pushCatalog"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/catalog/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["diffCatalog"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/catalog/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["previewPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPlans"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plans/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPlan"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plans/{key}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPlanVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plans/{key}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPlanVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listSubscriptions"];
        put?: never;
        post: operations["createSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["previewNewSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getSubscription"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{id}/change": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["changeSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["cancelSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{id}/uncancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["uncancelSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["pauseSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resumeSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{id}/reconcile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["reconcileSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{id}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["previewSubscription"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listInvoices"];
        put?: never;
        post: operations["createInvoice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/upcoming": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getUpcomingInvoice"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getInvoice"];
        put?: never;
        post?: never;
        delete: operations["deleteInvoice"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/html": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getInvoiceHtml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/pdf": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getInvoicePdf"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/ubl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getInvoiceUbl"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/cii": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getInvoiceCii"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/factur_x": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getInvoiceFacturX"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/lines/{line}/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listInvoiceLineRecords"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/finalize": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["finalizeInvoice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/void": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["voidInvoice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/mark_uncollectible": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["markInvoiceUncollectible"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_notes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCreditNotes"];
        put?: never;
        post: operations["createCreditNote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_notes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCreditNote"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_notes/{id}/pdf": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCreditNotePdf"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_notes/{id}/html": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCreditNoteHtml"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_notes/{id}/ubl": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCreditNoteUbl"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_notes/{id}/cii": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCreditNoteCii"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_notes/{id}/factur_x": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCreditNoteFacturX"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listPayments"];
        put?: never;
        post: operations["recordPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/pay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["payInvoice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/payment": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["startInvoicePayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payments/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["cancelPayment"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getPayment"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/money_overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMoneyOverview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/journal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getJournal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/journal/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["exportJournal"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCreditGrants"];
        put?: never;
        post: operations["grantCredits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_grants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCreditGrant"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_grants/{id}/void": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["voidCreditGrant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getCreditBalance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_consumptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["consumeCredits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credit_entries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listCreditEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/holds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listHolds"];
        put?: never;
        post: operations["reserveCredits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/holds/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getHold"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/holds/{id}/extend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["extendHold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/holds/{id}/commit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["commitHold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/holds/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["releaseHold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entitlements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listEntitlements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entitlements/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["checkEntitlement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entitlements/consume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["consumeEntitlement"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/test_clocks/{id}/advance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["advanceTestClock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/invoices/{id}/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createInvoiceLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/customers/{id}/portal_link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createPortalLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payment_methods/{id}/setup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["startPaymentMethodSetup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/payment_methods/{id}/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["refreshPaymentMethod"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/refunds/{id}/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["refreshRefund"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/refunds/{id}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["resolveRefund"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/token_usages/{id}/rate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rateTokenUsage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/token_usages/{id}/waive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["waiveTokenUsage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["summarizeUsage"];
        put?: never;
        post: operations["recordUsage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["recordUsageBatch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/series": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listUsageSeries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listUsageRecords"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/records/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getUsageRecord"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/records/{id}/void": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["voidUsageRecord"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/meters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listMeters"];
        put?: never;
        post: operations["createMeter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/meters/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getMeter"];
        put?: never;
        post?: never;
        delete: operations["deleteMeter"];
        options?: never;
        head?: never;
        patch: operations["updateMeter"];
        trace?: never;
    };
    "/v1/usage/thresholds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listUsageThresholds"];
        put?: never;
        post: operations["createUsageThreshold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage/thresholds/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getUsageThreshold"];
        put?: never;
        post?: never;
        delete: operations["deleteUsageThreshold"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/meters/{id}/rebuild": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rebuildMeter"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit_log/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["exportAuditRecords"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/customers/{id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["exportCustomer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/event_types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listEventTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listEvents"];
        put?: never;
        post: operations["publishEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["replayEvent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/deliveries/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["replayDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_statistics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWebhookStatistics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listWebhookEndpoints"];
        put?: never;
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["getWebhookEndpoint"];
        put?: never;
        post?: never;
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        patch: operations["updateWebhookEndpoint"];
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}/rotate_secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["testWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhook_endpoints/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["replayWebhookEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/payment_providers/{name}/webhook": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["receiveProviderNotice"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["isLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["isReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    "api_key.expiring": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.api_key.expiring"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "book_check.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.book_check.failed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credit.adjusted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.credit.adjusted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credit.exhausted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.credit.exhausted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credit.expired": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.credit.expired"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credit.granted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.credit.granted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credit.low": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.credit.low"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credit.top_up_suspended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.credit.top_up_suspended"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "credit_note.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.credit_note.created"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "dispute.closed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.dispute.closed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "dispute.opened": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.dispute.opened"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "entitlement.limit_reached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.entitlement.limit_reached"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.collection_exhausted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.invoice.collection_exhausted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.invoice.created"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.deleted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.invoice.deleted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.finalized": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.invoice.finalized"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.marked_uncollectible": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.invoice.marked_uncollectible"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.overdue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.invoice.overdue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.paid": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.invoice.paid"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.reopened": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.invoice.reopened"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "invoice.voided": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.invoice.voided"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.action_required": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.payment.action_required"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.payment.failed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.needs_attention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.payment.needs_attention"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.overpaid": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.payment.overpaid"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.processing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.payment.processing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.succeeded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.payment.succeeded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment.unresolved": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.payment.unresolved"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment_method.attached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.payment_method.attached"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment_method.detached": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.payment_method.detached"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment_method.expiring": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.payment_method.expiring"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "payment_method.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.payment_method.updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "refund.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.refund.created"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "refund.failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.refund.failed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "refund.succeeded": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.refund.succeeded"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "spend.alert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.spend.alert"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "subscription.activated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.subscription.activated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "subscription.canceled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.subscription.canceled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "subscription.created": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.subscription.created"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "subscription.ended": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.subscription.ended"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "subscription.paused": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.subscription.paused"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "subscription.renewed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.subscription.renewed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "subscription.resumed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.subscription.resumed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "subscription.trial_ending": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.subscription.trial_ending"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "subscription.updated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.subscription.updated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "usage.threshold": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.usage.threshold"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "usage.unbilled": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.usage.unbilled"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "usage.unrated": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhook.usage.unrated"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        AdvanceTestClock: {
            /** Format: date-time */
            to: string;
        };
        AggregateStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "aggregate";
            quantity: string;
        };
        AlreadyBilledStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "already_billed";
            invoice: string | null;
            line: string | null;
            billed: string;
            amount: string;
        };
        AuditRecord: {
            /** @enum {string} */
            object: "audit_record";
            id: string;
            action: string;
            object_id: string;
            /** @enum {string} */
            actor_type: "host" | "key" | "operator" | "payer" | "provider" | "runner";
            actor_id: string;
            actor_role: string | null;
            before: Record<string, never> | null;
            after: Record<string, never> | null;
            left_out: string[];
            ip: string | null;
            user_agent: string | null;
            request_id: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        AuditRecordList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["AuditRecord"][];
            has_more: boolean;
        };
        AutoTopUp: {
            /** @enum {string} */
            object: "auto_top_up";
            id: string;
            customer_id: string;
            unit: string;
            /** Format: int64 */
            amount: number;
            currency: string;
            /** Format: int64 */
            price: number;
            tax_code: string | null;
            /** Format: int64 */
            level: number;
            max_per_day: number;
            suspended_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        AutoTopUpList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["AutoTopUp"][];
            has_more: boolean;
        };
        BookCheck: {
            /** @enum {string} */
            object: "book_check";
            id: string;
            night: string | null;
            /** @enum {string} */
            status: "running" | "completed";
            /** Format: int64 */
            invoices: number;
            /** Format: int64 */
            credit_accounts: number;
            /** Format: int64 */
            differences: number;
            found: {
                object: string;
                path: string;
                problem: string;
            }[];
            /** @enum {string} */
            part: "invoices" | "credits";
            position: string | null;
            completed_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        BookCheckList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["BookCheck"][];
            has_more: boolean;
        };
        BooleanFeature: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "boolean";
        };
        BurnStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "burn";
            unit: string;
            credits: string;
            amount: string;
        };
        CancelSubscription: {
            at: string;
            /** @enum {string} */
            credit?: "prorate" | "none";
        };
        CatalogChange: {
            /** @enum {string} */
            object: "plan_change" | "rate_card_change";
            key: string;
            /** @enum {string} */
            status: "created" | "changed" | "unchanged";
            version: number;
            previous_version: number | null;
            changes: components["schemas"]["CatalogFieldChange"][];
        };
        CatalogChangeList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["CatalogChange"][];
            has_more: boolean;
        };
        CatalogFieldChange: {
            path: string;
            from: unknown;
            to: unknown;
        };
        ChangeSubscription: {
            plan?: string;
            version?: number;
            quantities?: {
                [key: string]: string;
            };
            at?: string;
            /** @enum {string} */
            bill?: "now" | "next_invoice";
        };
        CheckEntitlement: {
            customer_id: string;
            feature: string;
            /** Format: int64 */
            quantity?: number;
        };
        CommitHold: {
            /** Format: int64 */
            amount?: number;
            rate_card?: string;
            model?: string;
            tokens?: {
                /** Format: int64 */
                input?: number;
                /** Format: int64 */
                cache_read?: number;
                /** Format: int64 */
                cache_write?: number;
                /** Format: int64 */
                output?: number;
                /** Format: int64 */
                reasoning?: number;
            };
            /** @enum {string} */
            overdraft?: "debt" | "refuse";
        };
        CommittedHold: {
            /** @enum {string} */
            object: "hold";
            id: string;
            customer_id: string;
            unit: string;
            /** Format: int64 */
            amount: number;
            purpose: string | null;
            /** @enum {string} */
            status: "open" | "committed" | "released" | "lapsed";
            committed: number | null;
            is_late: boolean;
            /** Format: date-time */
            expires_at: string;
            settled_at: string | null;
            idempotency_key: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            token_usage: components["schemas"]["TokenUsage"] | null;
        };
        ConfigFeature: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "config";
            value: string;
        };
        ConflictError: {
            /** @enum {string} */
            error: "conflict";
            message: string;
        };
        ConsumeCredits: {
            customer_id: string;
            unit: string;
            /** Format: int64 */
            amount: number;
            purpose?: string;
            idempotency_key?: string;
        };
        ConsumeEntitlement: {
            customer_id: string;
            feature: string;
            /** Format: int64 */
            quantity?: number;
            dimensions?: {
                [key: string]: string;
            };
            idempotency_key?: string;
        };
        ConvertStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "convert";
            divide_by: string;
            /** @enum {string} */
            round: "up" | "down" | "half_up" | "none";
            quantity: string;
        };
        Coupon: {
            /** @enum {string} */
            object: "coupon";
            id: string;
            code: string;
            name: string;
            percent: string | null;
            amount: {
                [key: string]: string;
            } | null;
            /** @enum {string} */
            duration: "once" | "periods" | "forever";
            periods: number | null;
            plans: string[] | null;
            charges: string[] | null;
            carry: boolean;
            max_redemptions: number | null;
            max_redemptions_per_customer: number | null;
            redeem_from: string | null;
            redeem_before: string | null;
            times_redeemed: number;
            archived_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        CouponList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Coupon"][];
            has_more: boolean;
        };
        CreateAutoTopUp: {
            customer_id: string;
            unit: string;
            /** Format: int64 */
            amount: number;
            currency?: string;
            /** Format: int64 */
            price?: number;
            tax_code?: string | null;
            /** Format: int64 */
            level: number;
            max_per_day?: number;
        };
        CreateBookCheck: {
            /** @enum {string} */
            part?: "invoices" | "credits";
        };
        CreateCoupon: {
            code: string;
            name: string;
            percent?: string | null;
            amount?: {
                [key: string]: string;
            } | null;
            /** @enum {string} */
            duration: "once" | "periods" | "forever";
            periods?: number | null;
            plans?: string[] | null;
            charges?: string[] | null;
            carry?: boolean;
            max_redemptions?: number | null;
            max_redemptions_per_customer?: number | null;
            redeem_from?: string | null;
            redeem_before?: string | null;
        };
        CreateCreditAlert: {
            customer_id: string;
            unit: string;
            /** Format: int64 */
            level: number;
        };
        CreateCreditNote: {
            invoice_id: string;
            lines?: {
                line_id: string;
                /** Format: int64 */
                amount: number;
            }[];
            /** Format: int64 */
            amount?: number;
            /** @enum {string} */
            reason: "duplicate" | "fraudulent" | "order_change" | "unsatisfactory" | "usage_corrected" | "other";
            /** Format: int64 */
            refund?: number;
        };
        CreateCustomer: {
            name: string;
            email: string;
            timezone?: string | null;
            locale?: string | null;
            currency?: string | null;
            country?: string | null;
            tax_id?: string | null;
            /** @enum {string} */
            tax_status?: "taxable" | "exempt" | "reverse_charge";
            address?: {
                line1?: string;
                line2?: string;
                city?: string;
                region?: string;
                postcode?: string;
            } | null;
            net_days?: number | null;
            /** @enum {string} */
            collection_method?: "charge_automatically" | "send_invoice";
            test_clock_id?: string | null;
            metadata?: {
                [key: string]: string;
            };
        };
        CreateInvoice: {
            customer_id: string;
            currency?: string;
            lines?: {
                description: string;
                /** Format: int64 */
                amount: number;
                period_start?: string | null;
                period_end?: string | null;
                tax_code?: string | null;
            }[];
        };
        CreateInvoiceItem: {
            customer_id: string;
            subscription_id?: string | null;
            currency: string;
            /** Format: int64 */
            amount: number;
            description: string;
            period_start?: string | null;
            period_end?: string | null;
            tax_code?: string | null;
            metadata?: {
                [key: string]: string;
            };
        };
        CreateMeter: {
            key: string;
            name?: string | null;
            product_id: string;
            unit: string;
            /** @enum {string} */
            aggregation?: "sum" | "count" | "max" | "latest" | "unique_count" | "time_weighted";
            dimensions?: string[];
            counted?: string | null;
        };
        CreatePayerLink: {
            expires_in_seconds?: number;
            language?: ("de" | "en" | "es" | "fr") | null;
        };
        CreatePaymentMethod: {
            customer_id: string;
            metadata?: {
                [key: string]: string;
            };
        };
        CreatePlanMigration: {
            plan: string;
            from_version?: number | null;
            to_version?: number;
            /** @enum {string} */
            at: "now" | "period_end";
            dry_run?: boolean;
        };
        CreateRedemption: {
            coupon: string;
            subscription_id: string;
        };
        CreateRefund: {
            payment_id: string;
            /** Format: int64 */
            amount?: number;
            /** @enum {string} */
            reason: "duplicate" | "fraudulent" | "order_change" | "unsatisfactory" | "usage_corrected" | "other";
            credit_note_id?: string | null;
        };
        CreateSpendAlert: {
            customer_id: string;
            subscription_id?: string | null;
            currency: string;
            /** Format: int64 */
            amount: number;
            /** @enum {string} */
            repeat?: "once" | "multiples";
            /** @enum {string} */
            action?: "notify" | "block" | "invoice";
        };
        CreateSubscription: {
            customer_id: string;
            plan: string;
            version?: number;
            currency?: string;
            quantities?: {
                [key: string]: string;
            };
            /** Format: date-time */
            start_at?: string;
            anchor?: string;
            timezone?: string;
            trial?: {
                days?: number;
                /** Format: date-time */
                end_at?: string;
            } | null;
            coupon?: string;
            /** @enum {string} */
            trial_usage?: "free" | "charged";
            invoice_group?: string | null;
            metadata?: {
                [key: string]: string;
            };
        };
        CreateTestClock: {
            name?: string | null;
            /** Format: date-time */
            now?: string;
        };
        CreateTokenUsage: {
            customer_id: string;
            rate_card: string;
            model: string;
            tokens: {
                /** Format: int64 */
                input?: number;
                /** Format: int64 */
                cache_read?: number;
                /** Format: int64 */
                cache_write?: number;
                /** Format: int64 */
                output?: number;
                /** Format: int64 */
                reasoning?: number;
            };
            idempotency_key?: string | null;
        };
        CreateTopUp: {
            customer_id: string;
            unit: string;
            /** Format: int64 */
            amount: number;
            currency?: string;
            /** Format: int64 */
            price?: number;
            tax_code?: string | null;
        };
        CreateUsageThreshold: {
            customer_id: string;
            product_id: string;
            unit: string;
            /** Format: int64 */
            quantity: number;
            /** @enum {string} */
            period: "day" | "month" | "lifetime";
        };
        CreateWebhookEndpoint: {
            url: string;
            event_types: string[];
            description?: string;
            headers?: {
                [key: string]: string;
            };
            metadata?: {
                [key: string]: string;
            };
            /** @enum {string} */
            signature?: "hmac" | "ed25519";
        };
        CreditAlert: {
            /** @enum {string} */
            object: "credit_alert";
            id: string;
            customer_id: string;
            unit: string;
            /** Format: int64 */
            level: number;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        CreditAlertList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["CreditAlert"][];
            has_more: boolean;
        };
        CreditBalance: {
            /** @enum {string} */
            object: "credit_balance";
            customer_id: string;
            unit: string;
            decimals: number;
            purpose: string | null;
            /** Format: int64 */
            available: number;
            /** Format: int64 */
            held: number;
            /** Format: int64 */
            debt: number;
            /** Format: int64 */
            scoped: number;
            /** Format: int64 */
            sequence: number;
            livemode: boolean;
        };
        CreditConsumption: {
            /** @enum {string} */
            object: "credit_consumption";
            id: string;
            customer_id: string;
            unit: string;
            /** Format: int64 */
            amount: number;
            purpose: string | null;
            idempotency_key: string | null;
            balance: {
                /** Format: int64 */
                available: number;
                /** Format: int64 */
                held: number;
                /** Format: int64 */
                debt: number;
            };
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        CreditEntry: {
            /** @enum {string} */
            object: "credit_entry";
            id: string;
            customer_id: string;
            unit: string;
            /** Format: int64 */
            sequence: number;
            /** @enum {string} */
            kind: "grant" | "expire" | "void" | "consume" | "reserve" | "commit" | "release" | "lapse" | "repay" | "adjust" | "apply" | "restore" | "burn";
            grant_id: string | null;
            hold_id: string | null;
            consumption_id: string | null;
            invoice_id: string | null;
            purpose: string | null;
            /** Format: int64 */
            available: number;
            /** Format: int64 */
            scoped: number;
            /** Format: int64 */
            held: number;
            /** Format: int64 */
            debt: number;
            /** Format: date-time */
            at: string;
            livemode: boolean;
        };
        CreditEntryList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["CreditEntry"][];
            has_more: boolean;
        };
        CreditGrant: {
            /** @enum {string} */
            object: "credit_grant";
            id: string;
            customer_id: string;
            unit: string;
            /** @enum {string} */
            kind: "paid" | "promotional" | "plan";
            /** Format: int64 */
            amount: number;
            priority: number;
            scope: string[] | null;
            /** @enum {string} */
            status: "pending" | "active" | "expired" | "voided";
            /** Format: int64 */
            available: number;
            /** Format: int64 */
            held: number;
            rollover: {
                /** Format: int64 */
                maximum: number;
                /** Format: date-time */
                expires_at: string;
            } | null;
            steps: {
                plan: {
                    key: string;
                    /** Format: int64 */
                    version: number;
                };
                granted: string;
                /** Format: int64 */
                from: number;
                /** Format: int64 */
                to: number;
                /** Format: int64 */
                of: number;
                /** Format: int64 */
                amount: number;
            }[];
            source: {
                /** @enum {string} */
                type: "credit_note" | "invoice" | "subscription";
                id: string;
                period: number | null;
            } | null;
            /** Format: date-time */
            effective_at: string;
            expires_at: string | null;
            idempotency_key: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        CreditGrantList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["CreditGrant"][];
            has_more: boolean;
        };
        CreditNote: {
            /** @enum {string} */
            object: "credit_note";
            id: string;
            number: string;
            invoice_id: string;
            customer_id: string;
            currency: string;
            /** @enum {string} */
            reason: "duplicate" | "fraudulent" | "order_change" | "unsatisfactory" | "usage_corrected" | "other";
            lines: components["schemas"]["CreditNoteLine"][];
            /** @enum {string} */
            tax_behavior: "exclusive" | "inclusive";
            /** Format: int64 */
            net: number;
            /** Format: int64 */
            tax: number;
            taxes: components["schemas"]["InvoiceTax"][];
            /** Format: int64 */
            total: number;
            /** Format: int64 */
            waived: number;
            /** Format: int64 */
            refund: number;
            /** Format: int64 */
            to_balance: number;
            /** Format: date-time */
            issued_at: string;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        CreditNoteLine: {
            line_id: string;
            /** Format: int64 */
            amount: number;
            tax: components["schemas"]["InvoiceLineTax"];
        };
        CreditNoteList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["CreditNote"][];
            has_more: boolean;
        };
        Customer: {
            /** @enum {string} */
            object: "customer";
            id: string;
            name: string;
            email: string;
            timezone: string | null;
            locale: string | null;
            currency: string | null;
            country: string | null;
            tax_id: string | null;
            /** @enum {string} */
            tax_status: "taxable" | "exempt" | "reverse_charge";
            address: {
                line1?: string;
                line2?: string;
                city?: string;
                region?: string;
                postcode?: string;
            } | null;
            net_days: number | null;
            /** @enum {string} */
            collection_method: "charge_automatically" | "send_invoice";
            test_clock_id: string | null;
            metadata: {
                [key: string]: string;
            };
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        CustomerList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Customer"][];
            has_more: boolean;
        };
        DeletedAutoTopUp: {
            /** @enum {string} */
            object: "auto_top_up";
            id: string;
            deleted: boolean;
        };
        DeletedCoupon: {
            /** @enum {string} */
            object: "coupon";
            id: string;
            deleted: boolean;
        };
        DeletedCreditAlert: {
            /** @enum {string} */
            object: "credit_alert";
            id: string;
            deleted: boolean;
        };
        DeletedCustomer: {
            /** @enum {string} */
            object: "customer";
            id: string;
            deleted: boolean;
        };
        DeletedInvoice: {
            /** @enum {string} */
            object: "invoice";
            id: string;
            deleted: boolean;
        };
        DeletedInvoiceItem: {
            /** @enum {string} */
            object: "invoice_item";
            id: string;
            deleted: boolean;
        };
        DeletedMeter: {
            /** @enum {string} */
            object: "meter";
            id: string;
            deleted: boolean;
        };
        DeletedPaymentMethod: {
            /** @enum {string} */
            object: "payment_method";
            id: string;
            deleted: boolean;
        };
        DeletedPlanMigration: {
            /** @enum {string} */
            object: "plan_migration";
            id: string;
            deleted: boolean;
        };
        DeletedRedemption: {
            /** @enum {string} */
            object: "redemption";
            id: string;
            deleted: boolean;
        };
        DeletedSpendAlert: {
            /** @enum {string} */
            object: "spend_alert";
            id: string;
            deleted: boolean;
        };
        DeletedTestClock: {
            /** @enum {string} */
            object: "test_clock";
            id: string;
            deleted: boolean;
        };
        DeletedUsageThreshold: {
            /** @enum {string} */
            object: "usage_threshold";
            id: string;
            deleted: boolean;
        };
        DeletedWebhookEndpoint: {
            /** @enum {string} */
            object: "webhook_endpoint";
            id: string;
            deleted: boolean;
        };
        Delivery: {
            /** @enum {string} */
            object: "delivery";
            id: string;
            event_id: string;
            event_type: string;
            endpoint_id: string;
            /** @enum {string} */
            status: "Pending" | "Delivered" | "Failed";
            reason: ("exhausted" | "gone" | "endpoint_disabled" | "endpoint_deleted" | "unreadable") | null;
            /** Format: int64 */
            attempt_count: number;
            next_attempt_at: string | null;
            last_response_status: number | null;
            last_error: ("dns_error" | "blocked_address" | "connection_refused" | "tls_error" | "timeout" | "reset" | "bad_response" | "proxy_error" | "unknown" | "secret_unavailable" | "internal_error") | null;
            finished_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        DeliveryAttempt: {
            /** Format: int64 */
            number: number;
            /** Format: date-time */
            started_at: string;
            duration_ms: number | null;
            request_headers: {
                [key: string]: string;
            };
            response_status: number | null;
            response_headers: {
                [key: string]: string;
            } | null;
            response_body: string | null;
            error: ("dns_error" | "blocked_address" | "connection_refused" | "tls_error" | "timeout" | "reset" | "bad_response" | "proxy_error" | "unknown" | "secret_unavailable" | "internal_error") | null;
        };
        DeliveryList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Delivery"][];
            has_more: boolean;
        };
        DeliveryWithAttempts: {
            /** @enum {string} */
            object: "delivery";
            id: string;
            event_id: string;
            event_type: string;
            endpoint_id: string;
            /** @enum {string} */
            status: "Pending" | "Delivered" | "Failed";
            reason: ("exhausted" | "gone" | "endpoint_disabled" | "endpoint_deleted" | "unreadable") | null;
            /** Format: int64 */
            attempt_count: number;
            next_attempt_at: string | null;
            last_response_status: number | null;
            last_error: ("dns_error" | "blocked_address" | "connection_refused" | "tls_error" | "timeout" | "reset" | "bad_response" | "proxy_error" | "unknown" | "secret_unavailable" | "internal_error") | null;
            finished_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            attempt_started_at: string | null;
            attempts: components["schemas"]["DeliveryAttempt"][];
        };
        DiscountStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "discount";
            percent: string;
            amount: string;
        };
        Dispute: {
            /** @enum {string} */
            object: "dispute";
            id: string;
            customer_id: string;
            invoice_id: string;
            payment_id: string;
            /** Format: int64 */
            amount: number;
            /** Format: int64 */
            reversed: number;
            currency: string;
            reason: string;
            /** @enum {string} */
            status: "open" | "won" | "lost";
            provider: string;
            reference: string;
            respond_by: string | null;
            closed_at: string | null;
            /** Format: int64 */
            sequence: number;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        DisputeList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Dispute"][];
            has_more: boolean;
        };
        DueFailure: {
            attempts: number;
            problem: string;
            /** Format: date-time */
            at: string;
            retry_at: string | null;
        };
        Entitlement: {
            /** @enum {string} */
            object: "entitlement";
            customer_id: string;
            feature: string;
            type: ("boolean" | "config" | "metered") | null;
            allowed: boolean;
            /** @enum {string} */
            reason: "included" | "overage" | "limit_reached" | "spend_limit" | "not_included" | "past_due" | "no_subscription";
            value: string | null;
            subscription_id: string | null;
            meter: string | null;
            limit_type: ("hard" | "soft") | null;
            limit: number | null;
            used: number | null;
            balance: number | null;
            overage: number | null;
            period_start: string | null;
            resets_at: string | null;
            rolled_over: number | null;
            livemode: boolean;
        };
        EntitlementConsumption: {
            /** @enum {string} */
            object: "entitlement_consumption";
            customer_id: string;
            feature: string;
            type: ("boolean" | "config" | "metered") | null;
            allowed: boolean;
            /** @enum {string} */
            reason: "included" | "overage" | "limit_reached" | "spend_limit" | "not_included" | "past_due" | "no_subscription";
            value: string | null;
            subscription_id: string | null;
            meter: string | null;
            limit_type: ("hard" | "soft") | null;
            limit: number | null;
            used: number | null;
            balance: number | null;
            overage: number | null;
            period_start: string | null;
            resets_at: string | null;
            /** Format: int64 */
            quantity: number;
            usage_record_id: string | null;
            idempotency_key: string | null;
            livemode: boolean;
        };
        EntitlementList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Entitlement"][];
            has_more: boolean;
        };
        Event: {
            /** @enum {string} */
            object: "event";
            id: string;
            type: string;
            /** Format: date-time */
            timestamp: string;
            customer_id: string | null;
            idempotency_key: string | null;
            endpoint_id: string | null;
            data: unknown;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        EventList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["ListedEvent"][];
            has_more: boolean;
        };
        EventType: {
            /** @enum {string} */
            object: "event_type";
            type: string;
            description: string;
            schema: unknown;
            example: unknown;
        };
        EventTypeList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["EventType"][];
            has_more: boolean;
        };
        EventWithDeliveries: {
            /** @enum {string} */
            object: "event";
            id: string;
            type: string;
            /** Format: date-time */
            timestamp: string;
            customer_id: string | null;
            idempotency_key: string | null;
            endpoint_id: string | null;
            data: unknown;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            deliveries: components["schemas"]["Delivery"][];
        };
        ExtendHold: {
            ttl_seconds?: number;
        };
        FieldProblem: {
            field: string;
            problem: string;
        };
        FlatCharge: {
            key: string;
            name?: string;
            /** @enum {string} */
            timing?: "advance" | "arrears";
            minimum?: components["schemas"]["PlanPrices"];
            maximum?: components["schemas"]["PlanPrices"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            model: "flat";
            price: components["schemas"]["PlanPrices"];
        };
        FlatStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "flat";
            amount: string;
        };
        ForbiddenError: {
            /** @enum {string} */
            error: "forbidden";
            message: string;
        };
        FreeStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "free";
            free: string;
            quantity: string;
        };
        GraduatedCharge: {
            key: string;
            name?: string;
            /** @enum {string} */
            timing?: "advance" | "arrears";
            minimum?: components["schemas"]["PlanPrices"];
            maximum?: components["schemas"]["PlanPrices"];
            meter?: string;
            quantity?: string;
            free?: string;
            convert?: components["schemas"]["PlanConvert"];
            where?: {
                [key: string]: string[];
            };
            by?: string;
            burns?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            model: "graduated";
            tiers: components["schemas"]["PriceTier"][];
        };
        GraduatedPackageCharge: {
            key: string;
            name?: string;
            /** @enum {string} */
            timing?: "advance" | "arrears";
            minimum?: components["schemas"]["PlanPrices"];
            maximum?: components["schemas"]["PlanPrices"];
            meter?: string;
            quantity?: string;
            free?: string;
            convert?: components["schemas"]["PlanConvert"];
            where?: {
                [key: string]: string[];
            };
            by?: string;
            burns?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            model: "graduated_package";
            tiers: components["schemas"]["PackagePriceTier"][];
        };
        GraduatedPercentageCharge: {
            key: string;
            name?: string;
            /** @enum {string} */
            timing?: "advance" | "arrears";
            minimum?: components["schemas"]["PlanPrices"];
            maximum?: components["schemas"]["PlanPrices"];
            meter?: string;
            quantity?: string;
            free?: string;
            convert?: components["schemas"]["PlanConvert"];
            where?: {
                [key: string]: string[];
            };
            by?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            model: "graduated_percentage";
            tiers: components["schemas"]["PercentagePriceTier"][];
        };
        GrantCredits: {
            customer_id: string;
            unit: string;
            /** @enum {string} */
            kind: "paid" | "promotional" | "plan";
            /** Format: int64 */
            amount: number;
            priority?: number;
            scope?: string[];
            /** Format: date-time */
            effective_at?: string;
            /** Format: date-time */
            expires_at?: string;
            idempotency_key?: string;
        };
        Health: {
            /** @enum {string} */
            status: "ok";
        };
        Hold: {
            /** @enum {string} */
            object: "hold";
            id: string;
            customer_id: string;
            unit: string;
            /** Format: int64 */
            amount: number;
            purpose: string | null;
            /** @enum {string} */
            status: "open" | "committed" | "released" | "lapsed";
            committed: number | null;
            is_late: boolean;
            /** Format: date-time */
            expires_at: string;
            settled_at: string | null;
            idempotency_key: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        HoldList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Hold"][];
            has_more: boolean;
        };
        IdempotencyKeyReusedError: {
            /** @enum {string} */
            error: "idempotency_key_reused";
            message: string;
        };
        InternalError: {
            /** @enum {string} */
            error: "internal_error";
            message: string;
        };
        InvalidRequestError: {
            /** @enum {string} */
            error: "invalid_request";
            message: string;
            problems?: components["schemas"]["FieldProblem"][];
        };
        Invoice: {
            /** @enum {string} */
            object: "invoice";
            id: string;
            number: string | null;
            /** @enum {string} */
            status: "draft" | "open" | "paid" | "void" | "uncollectible";
            customer_id: string;
            subscription_id: string | null;
            subscription_ids: string[];
            currency: string;
            period_start: string | null;
            period_end: string | null;
            lines: components["schemas"]["InvoiceLine"][];
            discounts: components["schemas"]["InvoiceDiscount"][];
            /** @enum {string} */
            tax_behavior: "exclusive" | "inclusive";
            /** Format: int64 */
            subtotal: number;
            /** Format: int64 */
            tax: number;
            taxes: components["schemas"]["InvoiceTax"][];
            /** Format: int64 */
            total: number;
            applied: components["schemas"]["InvoiceAppliedCredit"][];
            /** Format: int64 */
            credited: number;
            /** Format: int64 */
            amount_paid: number;
            /** Format: int64 */
            amount_credited: number;
            /** Format: int64 */
            amount_waived: number;
            /** Format: int64 */
            amount_due: number;
            issued_at: string | null;
            due_at: string | null;
            finalizes_at: string | null;
            failure: components["schemas"]["DueFailure"] | null;
            past_due_since: string | null;
            /** @enum {string} */
            collection: "idle" | "collecting" | "paid" | "retrying" | "awaiting_method" | "awaiting_customer" | "processing" | "unresolved" | "exhausted" | "needs_attention" | "stopped";
            available_actions: ("finalize" | "pay" | "credit" | "void" | "mark_uncollectible")[];
            /** Format: int64 */
            sequence: number;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        InvoiceAppliedCredit: {
            /** @enum {string} */
            type: "paid_credit";
            id: string;
            /** Format: int64 */
            amount: number;
        };
        InvoiceBurntCredits: {
            unit: string;
            decimals: number;
            /** Format: int64 */
            amount: number;
        };
        InvoiceDiscount: {
            /** @enum {string} */
            type: "coupon" | "promotional_credit";
            id: string;
            name: string | null;
            percent: string | null;
            /** Format: int64 */
            base: number;
            /** Format: int64 */
            amount: number;
            parts: components["schemas"]["InvoiceDiscountPart"][];
        };
        InvoiceDiscountPart: {
            line_id: string;
            /** Format: int64 */
            amount: number;
        };
        InvoiceItem: {
            /** @enum {string} */
            object: "invoice_item";
            id: string;
            customer_id: string;
            subscription_id: string | null;
            currency: string;
            /** Format: int64 */
            amount: number;
            description: string;
            period_start: string | null;
            period_end: string | null;
            tax_code: string | null;
            metadata: {
                [key: string]: string;
            };
            /** @enum {string} */
            status: "pending" | "invoiced";
            invoice_id: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        InvoiceItemList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["InvoiceItem"][];
            has_more: boolean;
        };
        InvoiceLine: {
            id: string;
            /** @enum {string} */
            kind: "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up";
            charge: string | null;
            description: string;
            subscription_id: string | null;
            plan: components["schemas"]["PlanRef"] | null;
            group: string | null;
            period_start: string | null;
            period_end: string | null;
            quantity: string | null;
            /** Format: int64 */
            amount: number;
            /** Format: int64 */
            discount: number;
            /** Format: int64 */
            net: number;
            tax: components["schemas"]["InvoiceLineTax"];
            credit_of: components["schemas"]["InvoiceLineRef"] | null;
            burns: components["schemas"]["InvoiceBurntCredits"] | null;
            steps: components["schemas"]["RatingStep"][];
            receipt: components["schemas"]["UsageReceipt"] | null;
        };
        InvoiceLineRecordList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["UsageRecord"][];
            has_more: boolean;
        };
        InvoiceLineRef: {
            invoice_id: string;
            line_id: string;
        };
        InvoiceLineTax: {
            /** @enum {string} */
            category: "S" | "Z" | "E" | "AE" | "K" | "G" | "O";
            rate: string;
            country: string | null;
            reason: string | null;
        };
        InvoiceList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Invoice"][];
            has_more: boolean;
        };
        InvoicePayment: {
            /** @enum {string} */
            object: "invoice_payment";
            invoice: components["schemas"]["Invoice"];
            client_secret: string | null;
            url: string | null;
            livemode: boolean;
        };
        InvoiceProof: {
            /** @enum {string} */
            object: "invoice_proof";
            id: string;
            invoice_id: string;
            number: string;
            hash: string;
            previous: string;
            document: string;
            key_id: string;
            signature: string;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        InvoiceProofList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["InvoiceProof"][];
            has_more: boolean;
        };
        InvoiceTax: {
            /** @enum {string} */
            category: "S" | "Z" | "E" | "AE" | "K" | "G" | "O";
            rate: string;
            country: string | null;
            reason: string | null;
            /** Format: int64 */
            taxable: number;
            /** Format: int64 */
            amount: number;
        };
        JournalEntry: {
            /** Format: date */
            day: string;
            /** @enum {string} */
            kind: "invoice" | "credit_note" | "payment" | "refund" | "dispute" | "write_off" | "recognition" | "void" | "grant" | "credit_use" | "breakage";
            document_id: string;
            invoice_id: string | null;
            customer_id: string;
            currency: string;
            postings: {
                /** @enum {string} */
                account: "cash" | "receivable" | "clearing" | "contract_liability" | "refunds_payable" | "tax_payable" | "revenue" | "breakage" | "bad_debt";
                /** Format: int64 */
                amount: number;
            }[];
        };
        JournalPage: {
            /** @enum {string} */
            object: "journal_page";
            entries: components["schemas"]["JournalEntry"][];
            last: string | null;
            has_more: boolean;
            livemode: boolean;
        };
        ListedEvent: {
            /** @enum {string} */
            object: "event";
            id: string;
            type: string;
            /** Format: date-time */
            timestamp: string;
            customer_id: string | null;
            idempotency_key: string | null;
            endpoint_id: string | null;
            data: unknown;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            delivery_counts: {
                pending: number;
                delivered: number;
                failed: number;
            };
        };
        MaximumStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "maximum";
            per_period: string;
            amount: string;
        };
        Meter: {
            /** @enum {string} */
            object: "meter";
            id: string;
            key: string;
            name: string | null;
            product_id: string;
            unit: string;
            /** @enum {string} */
            aggregation: "sum" | "count" | "max" | "latest" | "unique_count" | "time_weighted";
            dimensions: string[];
            counted: string | null;
            /** @enum {string} */
            status: "building" | "ready" | "archived";
            /** Format: int64 */
            generation: number;
            rebuild: {
                /** @enum {string} */
                aggregation: "sum" | "count" | "max" | "latest" | "unique_count" | "time_weighted";
                dimensions: string[];
                counted: string | null;
                /** Format: int64 */
                generation: number;
                /** @enum {string} */
                status: "building" | "removing" | "failed";
                /** Format: int64 */
                done: number;
                /** Format: int64 */
                total: number;
                problem: string | null;
            } | null;
            archived_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        MeterList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Meter"][];
            has_more: boolean;
        };
        MeteredFeature: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "metered";
            meter: string;
            included: string;
            /** @enum {string} */
            limit: "hard" | "soft";
            rollover?: components["schemas"]["PlanRollover"];
        };
        MinimumStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "minimum";
            per_period: string;
            amount: string;
        };
        MoneyOverview: {
            /** @enum {string} */
            object: "money_overview";
            /** Format: date-time */
            at: string;
            /** Format: date-time */
            since: string;
            currencies: {
                currency: string;
                recurring: {
                    /** Format: int64 */
                    count: number;
                    /** Format: int64 */
                    amount: number;
                };
                invoiced: {
                    /** Format: int64 */
                    count: number;
                    /** Format: int64 */
                    amount: number;
                };
                collected: {
                    /** Format: int64 */
                    count: number;
                    /** Format: int64 */
                    amount: number;
                };
                outstanding: {
                    /** Format: int64 */
                    count: number;
                    /** Format: int64 */
                    amount: number;
                };
                not_due: {
                    /** Format: int64 */
                    count: number;
                    /** Format: int64 */
                    amount: number;
                };
                late_thirty: {
                    /** Format: int64 */
                    count: number;
                    /** Format: int64 */
                    amount: number;
                };
                late_sixty: {
                    /** Format: int64 */
                    count: number;
                    /** Format: int64 */
                    amount: number;
                };
                late_more: {
                    /** Format: int64 */
                    count: number;
                    /** Format: int64 */
                    amount: number;
                };
                to_retry: {
                    /** Format: int64 */
                    count: number;
                    /** Format: int64 */
                    amount: number;
                };
            }[];
            is_complete: boolean;
            livemode: boolean;
        };
        NotFoundError: {
            /** @enum {string} */
            error: "not_found";
            message: string;
        };
        NoticeReceipt: {
            /** @enum {string} */
            outcome: "accepted" | "ignored";
        };
        PackageCharge: {
            key: string;
            name?: string;
            /** @enum {string} */
            timing?: "advance" | "arrears";
            minimum?: components["schemas"]["PlanPrices"];
            maximum?: components["schemas"]["PlanPrices"];
            meter?: string;
            quantity?: string;
            free?: string;
            convert?: components["schemas"]["PlanConvert"];
            where?: {
                [key: string]: string[];
            };
            by?: string;
            burns?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            model: "package";
            price: components["schemas"]["PlanPrices"];
            size: string;
        };
        PackagePriceTier: {
            up_to?: string;
            price?: components["schemas"]["PlanPrices"];
            flat?: components["schemas"]["PlanPrices"];
            size: string;
        };
        PackageStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "package";
            quantity: string;
            size: string;
            packages: string;
            price: string;
            amount: string;
        };
        PackageTierStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "package_tier";
            from: string;
            up_to: string | null;
            quantity: string;
            size: string;
            packages: string;
            price: string;
            flat: string;
            amount: string;
        };
        PauseSubscription: {
            /** Format: date-time */
            resume_at?: string;
            /** @enum {string} */
            anchor?: "keep" | "now";
            /** @enum {string} */
            credit?: "prorate" | "none";
        };
        PayInvoice: {
            payment_method_id?: string;
        };
        PayerLink: {
            /** @enum {string} */
            object: "payer_link";
            url: string;
            /** Format: date-time */
            expires_at: string;
            livemode: boolean;
        };
        PayloadTooLargeError: {
            /** @enum {string} */
            error: "payload_too_large";
            message: string;
        };
        Payment: {
            /** @enum {string} */
            object: "payment";
            id: string;
            invoice_id: string;
            customer_id: string;
            currency: string;
            provider: string;
            reference: string | null;
            /** @enum {string} */
            status: "open" | "succeeded" | "closed";
            /** Format: int64 */
            amount: number;
            /** Format: int64 */
            applied: number;
            /** Format: int64 */
            overpaid: number;
            paid_at: string | null;
            attention: components["schemas"]["PaymentAttention"] | null;
            /** Format: int64 */
            sequence: number;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        PaymentAttention: {
            /** @enum {string} */
            code: "provider_refused" | "provider_unreachable" | "outcome_unknown" | "no_result" | "closed_at_provider" | "not_closed" | "not_chargeable";
            message: string;
            /** Format: date-time */
            since: string;
        };
        PaymentList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Payment"][];
            has_more: boolean;
        };
        PaymentMethod: {
            /** @enum {string} */
            object: "payment_method";
            id: string;
            customer_id: string;
            provider: string;
            /** @enum {string} */
            status: "pending" | "attached" | "failed" | "detached";
            is_default: boolean;
            type: string | null;
            brand: string | null;
            last4: string | null;
            expiry: {
                /** Format: int64 */
                month: number & unknown;
                /** Format: int64 */
                year: number & unknown;
            } | null;
            expiring_since: string | null;
            failure_code: string | null;
            reference: string | null;
            provider_customer: string | null;
            setup_reference: string | null;
            metadata: {
                [key: string]: string;
            };
            detached_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        PaymentMethodList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["PaymentMethod"][];
            has_more: boolean;
        };
        PaymentMethodSetup: {
            /** @enum {string} */
            object: "payment_method_setup";
            payment_method_id: string;
            client_secret: string | null;
            url: string | null;
            livemode: boolean;
        };
        PendingChange: {
            plan: components["schemas"]["PlanRef"] | null;
            quantities: {
                [key: string]: string;
            };
            at: string;
            /** @enum {string} */
            bill: "now" | "next_invoice";
        };
        PercentStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "percent";
            money: string;
            rate: string;
            records: string;
            flat: string;
            amount: string;
        };
        PercentTierStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "percent_tier";
            from: string;
            up_to: string | null;
            money: string;
            rate: string;
            flat: string;
            amount: string;
        };
        PercentageCharge: {
            key: string;
            name?: string;
            /** @enum {string} */
            timing?: "advance" | "arrears";
            minimum?: components["schemas"]["PlanPrices"];
            maximum?: components["schemas"]["PlanPrices"];
            meter?: string;
            quantity?: string;
            free?: string;
            convert?: components["schemas"]["PlanConvert"];
            where?: {
                [key: string]: string[];
            };
            by?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            model: "percentage";
            rate: string;
            flat?: components["schemas"]["PlanPrices"];
            minimum_per_record?: components["schemas"]["PlanPrices"];
            maximum_per_record?: components["schemas"]["PlanPrices"];
        };
        PercentagePriceTier: {
            up_to?: string;
            rate?: string;
            flat?: components["schemas"]["PlanPrices"];
        };
        Plan: {
            /** @enum {string} */
            object: "plan";
            id: string;
            key: string;
            name: string;
            description: string | null;
            version: number;
            version_id: string;
            hash: string;
            terms: components["schemas"]["PlanTerms"];
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        PlanCharge: components["schemas"]["FlatCharge"] | components["schemas"]["UnitCharge"] | components["schemas"]["PackageCharge"] | components["schemas"]["GraduatedCharge"] | components["schemas"]["VolumeCharge"] | components["schemas"]["GraduatedPackageCharge"] | components["schemas"]["PercentageCharge"] | components["schemas"]["GraduatedPercentageCharge"];
        PlanConvert: {
            divide_by: string;
            /** @enum {string} */
            round?: "up" | "down" | "half_up" | "none";
        };
        PlanDefinition: {
            key: string;
            name: string;
            description?: string;
            currencies: string[];
            interval: components["schemas"]["PlanInterval"];
            trial?: components["schemas"]["PlanTrial"];
            charges: components["schemas"]["PlanCharge"][];
            features?: {
                [key: string]: components["schemas"]["PlanFeature"];
            };
            grants?: components["schemas"]["PlanGrant"][];
            minimum?: components["schemas"]["PlanPrices"];
            policy?: components["schemas"]["PlanPolicy"];
        };
        PlanFeature: components["schemas"]["BooleanFeature"] | components["schemas"]["ConfigFeature"] | components["schemas"]["MeteredFeature"];
        PlanGrant: {
            unit: string;
            amount: string;
            rollover?: components["schemas"]["PlanRollover"];
        };
        PlanInterval: {
            /** @enum {string} */
            unit: "day" | "week" | "month" | "year";
            count: number;
        };
        PlanList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Plan"][];
            has_more: boolean;
        };
        PlanMigration: {
            /** @enum {string} */
            object: "plan_migration";
            id: string;
            plan: string;
            from_version: number | null;
            to_version: number;
            /** @enum {string} */
            at: "now" | "period_end";
            dry_run: boolean;
            /** @enum {string} */
            status: "running" | "completed";
            counts: {
                /** Format: int64 */
                migrated: number;
                /** Format: int64 */
                unchanged: number;
                /** Format: int64 */
                failed: number;
            };
            failures: {
                subscription: string;
                problem: string;
            }[];
            amounts: {
                currency: string;
                now: string;
                next: string;
            }[];
            differences: {
                subscription: string;
                currency: string;
                now: string;
                next: string;
            }[];
            position: string | null;
            completed_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        PlanMigrationList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["PlanMigration"][];
            has_more: boolean;
        };
        PlanPolicy: {
            /** @enum {string} */
            proration?: "day" | "time" | "none";
            /** @enum {string} */
            usage_on_change?: "continue" | "restart";
            grace_hours?: number;
            past_due_grace_days?: number;
        };
        PlanPreview: {
            /** @enum {string} */
            object: "plan_preview";
            plan: string;
            version: number | null;
            currency: string;
            lines: components["schemas"]["PlanPreviewLine"][];
            /** Format: int64 */
            total: number;
        };
        PlanPreviewLine: {
            charge: string | null;
            name: string;
            /** Format: int64 */
            amount: number;
            exact: string;
            steps: components["schemas"]["RatingStep"][];
        };
        PlanPrices: {
            [key: string]: string;
        };
        PlanRef: {
            key: string;
            version: number;
        };
        PlanRollover: {
            maximum: string;
            expires_after?: components["schemas"]["PlanInterval"];
        };
        PlanTerms: {
            currencies: string[];
            interval: components["schemas"]["PlanInterval"];
            trial?: components["schemas"]["PlanTrial"];
            charges: components["schemas"]["PlanCharge"][];
            features?: {
                [key: string]: components["schemas"]["PlanFeature"];
            };
            grants?: components["schemas"]["PlanGrant"][];
            minimum?: components["schemas"]["PlanPrices"];
            policy?: components["schemas"]["PlanPolicy"];
        };
        PlanTrial: {
            days: number;
        };
        PlanVersion: {
            /** @enum {string} */
            object: "plan_version";
            id: string;
            plan_key: string;
            version: number;
            hash: string;
            terms: components["schemas"]["PlanTerms"];
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        PlanVersionList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["PlanVersion"][];
            has_more: boolean;
        };
        PreviewPlan: {
            plan: string | components["schemas"]["PlanDefinition"];
            version?: number;
            currency?: string;
            quantities?: unknown;
        };
        PreviewSubscription: {
            /** @enum {string} */
            action: "change" | "pause" | "resume" | "cancel" | "uncancel";
            plan?: string;
            version?: number;
            quantities?: {
                [key: string]: string;
            };
            at?: string;
            /** @enum {string} */
            bill?: "now" | "next_invoice";
            /** @enum {string} */
            credit?: "prorate" | "none";
            /** Format: date-time */
            resume_at?: string;
            /** @enum {string} */
            anchor?: "keep" | "now";
        };
        PriceTier: {
            up_to?: string;
            price?: components["schemas"]["PlanPrices"];
            flat?: components["schemas"]["PlanPrices"];
        };
        PublishEvent: {
            type: string;
            data: unknown;
            customer_id?: string;
            idempotency_key?: string;
        };
        PushCatalog: {
            plans?: components["schemas"]["PlanDefinition"][];
            rate_cards?: components["schemas"]["RateCardDefinition"][];
        };
        RateCard: {
            /** @enum {string} */
            object: "rate_card";
            id: string;
            name: string | null;
            key: string;
            version: number;
            reference: string;
            hash: string;
            unit: string;
            decimals: number | null;
            markup: string | null;
            models: {
                [key: string]: {
                    input?: string;
                    cache_read?: string;
                    cache_write?: string;
                    output?: string;
                    reasoning?: string;
                };
            };
            /** @enum {string} */
            status: "current" | "superseded";
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        RateCardDefinition: {
            key: string;
            name?: string;
            unit: string;
            decimals?: number;
            markup?: string;
            models: {
                [key: string]: components["schemas"]["TokenPrices"];
            };
        };
        RateCardList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["RateCard"][];
            has_more: boolean;
        };
        RateLimitedError: {
            /** @enum {string} */
            error: "rate_limited";
            message: string;
        };
        RatingStep: components["schemas"]["AggregateStep"] | components["schemas"]["ConvertStep"] | components["schemas"]["FreeStep"] | components["schemas"]["FlatStep"] | components["schemas"]["UnitStep"] | components["schemas"]["PackageStep"] | components["schemas"]["TierStep"] | components["schemas"]["PackageTierStep"] | components["schemas"]["PercentStep"] | components["schemas"]["PercentTierStep"] | components["schemas"]["RecordMinimumStep"] | components["schemas"]["RecordMaximumStep"] | components["schemas"]["ShareStep"] | components["schemas"]["DiscountStep"] | components["schemas"]["MaximumStep"] | components["schemas"]["MinimumStep"] | components["schemas"]["RoundStep"] | components["schemas"]["AlreadyBilledStep"] | components["schemas"]["BurnStep"];
        Reconciliation: {
            /** @enum {string} */
            object: "reconciliation";
            subscription_id: string;
            invoice: components["schemas"]["Invoice"] | null;
        };
        RecordMaximumStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "record_maximum";
            records: string;
            price: string;
            amount: string;
        };
        RecordMinimumStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "record_minimum";
            records: string;
            price: string;
            amount: string;
        };
        RecordPayment: {
            invoice_id: string;
            /** Format: int64 */
            amount?: number;
            /** Format: date-time */
            paid_at?: string;
            reference?: string;
            accept_overpayment?: boolean;
        };
        RecordUsage: {
            customer_id: string;
            product_id: string;
            /** Format: int64 */
            quantity: number;
            unit: string;
            dimensions?: {
                [key: string]: string;
            };
            /** Format: date-time */
            timestamp?: string;
            idempotency_key?: string;
        };
        RecordUsageBatch: {
            records: components["schemas"]["RecordUsage"][];
        };
        Redemption: {
            /** @enum {string} */
            object: "redemption";
            id: string;
            coupon: string;
            coupon_id: string;
            customer_id: string;
            subscription_id: string;
            currency: string;
            terms: {
                name: string;
                percent?: string;
                amount?: {
                    [key: string]: string;
                };
                /** @enum {string} */
                duration: "once" | "periods" | "forever";
                periods?: number;
                scope?: {
                    plans?: string[];
                    charges?: string[];
                };
                carry?: boolean;
            };
            ended_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        RedemptionList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Redemption"][];
            has_more: boolean;
        };
        Refund: {
            /** @enum {string} */
            object: "refund";
            id: string;
            customer_id: string;
            invoice_id: string;
            payment_id: string;
            credit_note_id: string | null;
            /** Format: int64 */
            amount: number;
            /** Format: int64 */
            reversed: number;
            currency: string;
            /** @enum {string} */
            reason: "duplicate" | "fraudulent" | "order_change" | "unsatisfactory" | "usage_corrected" | "other";
            /** @enum {string} */
            status: "pending" | "unresolved" | "succeeded" | "failed";
            failure_code: string | null;
            provider: string;
            reference: string | null;
            sent_at: string | null;
            succeeded_at: string | null;
            /** Format: int64 */
            sequence: number;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        RefundList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Refund"][];
            has_more: boolean;
        };
        ReplayEvent: {
            endpoint_id?: string;
        };
        ReplayWebhookEvents: {
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until?: string;
            /** @enum {string} */
            status?: "Failed" | "all";
            types?: string[];
            dry_run?: boolean;
        };
        ReplayedDeliveries: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Delivery"][];
            has_more: boolean;
        };
        RequestTimeoutError: {
            /** @enum {string} */
            error: "request_timeout";
            message: string;
        };
        ReserveCredits: {
            customer_id: string;
            unit: string;
            /** Format: int64 */
            amount: number;
            purpose?: string;
            ttl_seconds?: number;
            idempotency_key?: string;
        };
        ResolveRefund: {
            /** @enum {string} */
            status: "succeeded" | "failed";
            reference?: string;
        };
        ResumeSubscription: {
            /** @enum {string} */
            anchor?: "keep" | "now";
        };
        RotateWebhookSecret: {
            expire_previous_after_seconds?: number;
        };
        RoundStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "round";
            digits: number;
            amount: string;
        };
        ShareStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "share";
            numerator: string;
            denominator: string;
            amount: string;
        };
        SpendAlert: {
            /** @enum {string} */
            object: "spend_alert";
            id: string;
            customer_id: string;
            subscription_id: string | null;
            currency: string;
            /** Format: int64 */
            amount: number;
            /** @enum {string} */
            repeat: "once" | "multiples";
            /** @enum {string} */
            action: "notify" | "block" | "invoice";
            /** Format: int64 */
            fired_amount: number;
            fired_period_start: string | null;
            fired_at: string | null;
            blocked_until: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        SpendAlertList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["SpendAlert"][];
            has_more: boolean;
        };
        StartInvoicePayment: {
            payment_method_id?: string;
            return_url?: string | null;
        };
        StartPaymentMethodSetup: {
            return_url?: string | null;
        };
        Subscription: {
            /** @enum {string} */
            object: "subscription";
            id: string;
            customer_id: string;
            /** @enum {string} */
            phase: "scheduled" | "trialing" | "active" | "paused" | "ended";
            plan: components["schemas"]["PlanRef"];
            currency: string;
            quantities: {
                [key: string]: string;
            };
            pending: components["schemas"]["PendingChange"] | null;
            anchor: string;
            timezone: string;
            /** Format: date-time */
            start_at: string;
            trial_end_at: string | null;
            activated_at: string | null;
            current_period_start: string | null;
            current_period_end: string | null;
            paused_at: string | null;
            resumes_at: string | null;
            canceled_at: string | null;
            ends_at: string | null;
            ended_at: string | null;
            next_at: string | null;
            failure: components["schemas"]["DueFailure"] | null;
            past_due_since: string | null;
            available_actions: ("change" | "pause" | "resume" | "cancel" | "uncancel")[];
            invoice_group: string | null;
            metadata: {
                [key: string]: string;
            };
            /** Format: int64 */
            sequence: number;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        SubscriptionList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["Subscription"][];
            has_more: boolean;
        };
        SubscriptionPreview: {
            /** @enum {string} */
            object: "subscription_preview";
            subscription: components["schemas"]["Subscription"];
            invoices: components["schemas"]["Invoice"][];
            next_invoice: components["schemas"]["Invoice"] | null;
        };
        TestClock: {
            /** @enum {string} */
            object: "test_clock";
            id: string;
            name: string | null;
            /** Format: date-time */
            now: string;
            /** @enum {string} */
            status: "ready" | "advancing";
            advancing_to: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        TestClockList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["TestClock"][];
            has_more: boolean;
        };
        TestWebhookEndpoint: {
            type: string;
        };
        TierStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tier";
            from: string;
            up_to: string | null;
            quantity: string;
            price: string;
            flat: string;
            amount: string;
        };
        TokenPrices: {
            input?: string;
            cache_read?: string;
            cache_write?: string;
            output?: string;
            reasoning?: string;
        };
        TokenUsage: {
            /** @enum {string} */
            object: "token_usage";
            id: string;
            customer_id: string;
            rate_card: string;
            version: number;
            model: string;
            tokens: {
                /** Format: int64 */
                input: number;
                /** Format: int64 */
                cache_read: number;
                /** Format: int64 */
                cache_write: number;
                /** Format: int64 */
                output: number;
                /** Format: int64 */
                reasoning: number;
            };
            unit: string;
            /** @enum {string} */
            status: "rated" | "unrated" | "waived";
            amount: number | null;
            exact: string | null;
            steps: ({
                /** @enum {string} */
                type: "tokens";
                /** @enum {string} */
                kind: "input" | "cache_read" | "cache_write" | "output" | "reasoning";
                tokens: string;
                price: string;
                per: string;
                amount: string;
            } | {
                /** @enum {string} */
                type: "markup";
                percent: string;
                amount: string;
            } | {
                /** @enum {string} */
                type: "round";
                digits: number;
                amount: string;
            })[];
            unpriced: ("input" | "cache_read" | "cache_write" | "output" | "reasoning")[] | null;
            hold_id: string | null;
            consumption_id: string | null;
            idempotency_key: string | null;
            waived_by: string | null;
            waive_reason: string | null;
            settled_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        TokenUsageList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["TokenUsage"][];
            has_more: boolean;
        };
        TopUp: {
            /** @enum {string} */
            object: "top_up";
            id: string;
            customer_id: string;
            unit: string;
            /** Format: int64 */
            amount: number;
            currency: string;
            /** Format: int64 */
            price: number;
            tax_code: string | null;
            /** @enum {string} */
            status: "pending" | "granted" | "canceled";
            invoice_id: string;
            grant_id: string | null;
            auto_top_up_id: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        TopUpList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["TopUp"][];
            has_more: boolean;
        };
        UnauthorizedError: {
            /** @enum {string} */
            error: "unauthorized";
            message: string;
        };
        UnavailableError: {
            /** @enum {string} */
            error: "unavailable";
            message: string;
        };
        UnitCharge: {
            key: string;
            name?: string;
            /** @enum {string} */
            timing?: "advance" | "arrears";
            minimum?: components["schemas"]["PlanPrices"];
            maximum?: components["schemas"]["PlanPrices"];
            meter?: string;
            quantity?: string;
            free?: string;
            convert?: components["schemas"]["PlanConvert"];
            where?: {
                [key: string]: string[];
            };
            by?: string;
            burns?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            model: "unit";
            price: components["schemas"]["PlanPrices"];
        };
        UnitStep: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "unit";
            quantity: string;
            price: string;
            amount: string;
        };
        UnsupportedMediaTypeError: {
            /** @enum {string} */
            error: "unsupported_media_type";
            message: string;
        };
        UpcomingInvoice: {
            /** @enum {string} */
            object: "upcoming_invoice";
            subscription_id: string;
            invoice: components["schemas"]["Invoice"] | null;
        };
        UpdateAutoTopUp: {
            /** Format: int64 */
            level?: number;
            max_per_day?: number;
        };
        UpdateCreditAlert: {
            /** Format: int64 */
            level?: number;
        };
        UpdateCustomer: {
            name?: string;
            email?: string;
            timezone?: string | null;
            locale?: string | null;
            currency?: string | null;
            country?: string | null;
            tax_id?: string | null;
            /** @enum {string} */
            tax_status?: "taxable" | "exempt" | "reverse_charge";
            address?: {
                line1?: string;
                line2?: string;
                city?: string;
                region?: string;
                postcode?: string;
            } | null;
            net_days?: number | null;
            /** @enum {string} */
            collection_method?: "charge_automatically" | "send_invoice";
            metadata?: {
                [key: string]: string | null;
            } | null;
        };
        UpdateMeter: {
            name?: string | null;
            /** @enum {string} */
            aggregation?: "sum" | "count" | "max" | "latest" | "unique_count" | "time_weighted";
            dimensions?: string[];
            counted?: string | null;
        };
        UpdatePaymentMethod: {
            is_default?: boolean;
            metadata?: {
                [key: string]: string | null;
            } | null;
        };
        UpdateSpendAlert: {
            /** Format: int64 */
            amount?: number;
            /** @enum {string} */
            action?: "notify" | "block" | "invoice";
        };
        UpdateWebhookEndpoint: {
            url?: string;
            event_types?: string[];
            description?: string | null;
            headers?: {
                [key: string]: string;
            } | null;
            metadata?: {
                [key: string]: string | null;
            } | null;
            /** @enum {string} */
            status?: "enabled" | "disabled";
        };
        UsageBatch: {
            /** @enum {string} */
            object: "usage_batch";
            /** Format: int64 */
            recorded: number;
            /** Format: int64 */
            duplicates: number;
            data: {
                id: string;
                /** @enum {string} */
                status: "recorded" | "duplicate";
            }[];
        };
        UsageGroup: {
            dimensions: {
                [key: string]: string | null;
            };
            /** Format: int64 */
            total_quantity: number;
            /** Format: int64 */
            denominator: number;
            /** Format: int64 */
            record_count: number;
        };
        UsagePoint: {
            /** Format: date-time */
            start: string;
            /** Format: date-time */
            end: string;
            product_id?: string;
            unit: string | null;
            /** Format: int64 */
            quantity: number;
            /** Format: int64 */
            denominator: number;
            /** Format: int64 */
            record_count: number;
            dimensions?: {
                [key: string]: string | null;
            };
        };
        UsageReceipt: {
            meter: string;
            where: {
                [key: string]: string[];
            };
            /** Format: date-time */
            period_start: string;
            /** Format: date-time */
            period_end: string;
            total: string;
            /** Format: int64 */
            record_count: number;
        };
        UsageRecord: {
            /** @enum {string} */
            object: "usage_record";
            id: string;
            customer_id: string;
            product_id: string;
            /** Format: int64 */
            quantity: number;
            unit: string;
            dimensions: {
                [key: string]: string;
            };
            /** Format: date-time */
            timestamp: string;
            idempotency_key: string | null;
            voided_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        UsageRecordList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["UsageRecord"][];
            has_more: boolean;
        };
        UsageSeries: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["UsagePoint"][];
            has_more: boolean;
        };
        UsageSummary: {
            /** @enum {string} */
            object: "usage_summary";
            customer_id: string;
            meter: string | null;
            product_id: string | null;
            /** Format: int64 */
            total_quantity: number;
            /** Format: int64 */
            denominator: number;
            unit: string | null;
            /** Format: int64 */
            record_count: number;
            groups?: components["schemas"]["UsageGroup"][];
            start_date: string | null;
            end_date: string | null;
            timezone: string;
            period_start: string | null;
            period_end: string | null;
        };
        UsageThreshold: {
            /** @enum {string} */
            object: "usage_threshold";
            id: string;
            customer_id: string;
            product_id: string;
            unit: string;
            /** Format: int64 */
            quantity: number;
            /** @enum {string} */
            period: "day" | "month" | "lifetime";
            last_fired_at: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
        };
        UsageThresholdList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["UsageThreshold"][];
            has_more: boolean;
        };
        VolumeCharge: {
            key: string;
            name?: string;
            /** @enum {string} */
            timing?: "advance" | "arrears";
            minimum?: components["schemas"]["PlanPrices"];
            maximum?: components["schemas"]["PlanPrices"];
            meter?: string;
            quantity?: string;
            free?: string;
            convert?: components["schemas"]["PlanConvert"];
            where?: {
                [key: string]: string[];
            };
            by?: string;
            burns?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            model: "volume";
            tiers: components["schemas"]["PriceTier"][];
        };
        WaiveTokenUsage: {
            by: string;
            reason: string;
        };
        WebhookEndpoint: {
            /** @enum {string} */
            object: "webhook_endpoint";
            id: string;
            url: string;
            event_types: string[];
            description: string | null;
            headers: {
                [key: string]: string;
            };
            metadata: {
                [key: string]: string;
            };
            /** @enum {string} */
            signature: "hmac" | "ed25519";
            public_key: string | null;
            /** @enum {string} */
            status: "enabled" | "disabled";
            disabled_reason: ("manual" | "gone" | "failing") | null;
            disabled_at: string | null;
            failing_since: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        WebhookEndpointList: {
            /** @enum {string} */
            object: "list";
            data: components["schemas"]["WebhookEndpoint"][];
            has_more: boolean;
        };
        WebhookEndpointStatistics: {
            endpoint_id: string;
            /** Format: int64 */
            pending: number;
            /** Format: int64 */
            delivered: number;
            /** Format: int64 */
            failed: number;
            /** Format: int64 */
            failed_attempts: number;
            hours: components["schemas"]["WebhookStatisticsHour"][];
        };
        WebhookEndpointWithSecret: {
            /** @enum {string} */
            object: "webhook_endpoint";
            id: string;
            url: string;
            event_types: string[];
            description: string | null;
            headers: {
                [key: string]: string;
            };
            metadata: {
                [key: string]: string;
            };
            /** @enum {string} */
            signature: "hmac" | "ed25519";
            public_key: string | null;
            /** @enum {string} */
            status: "enabled" | "disabled";
            disabled_reason: ("manual" | "gone" | "failing") | null;
            disabled_at: string | null;
            failing_since: string | null;
            livemode: boolean;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            secret?: string;
        };
        WebhookReplay: {
            /** @enum {string} */
            object: "webhook_replay";
            endpoint_id: string;
            count: number;
            dry_run: boolean;
        };
        WebhookStatistics: {
            /** @enum {string} */
            object: "webhook_statistics";
            livemode: boolean;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
            /** Format: int64 */
            pending: number;
            /** Format: int64 */
            delivered: number;
            /** Format: int64 */
            failed: number;
            /** Format: int64 */
            failed_attempts: number;
            hours: components["schemas"]["WebhookStatisticsHour"][];
            endpoints: components["schemas"]["WebhookEndpointStatistics"][];
        };
        WebhookStatisticsHour: {
            /** Format: date-time */
            start: string;
            /** Format: int64 */
            delivered: number;
            /** Format: int64 */
            failed: number;
            /** Format: int64 */
            failed_attempts: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAuditRecords: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                object_id?: string;
                actor_id?: string;
                action?: string;
                created_after?: string;
                created_before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditRecordList"];
                };
            };
        };
    };
    getAuditRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditRecord"];
                };
            };
        };
    };
    listAutoTopUps: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AutoTopUpList"];
                };
            };
        };
    };
    createAutoTopUp: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateAutoTopUp"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AutoTopUp"];
                };
            };
        };
    };
    getAutoTopUp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AutoTopUp"];
                };
            };
        };
    };
    deleteAutoTopUp: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedAutoTopUp"];
                };
            };
        };
    };
    updateAutoTopUp: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateAutoTopUp"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AutoTopUp"];
                };
            };
        };
    };
    listBookChecks: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                status?: "running" | "completed";
                night?: "null" | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BookCheckList"];
                };
            };
        };
    };
    createBookCheck: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateBookCheck"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BookCheck"];
                };
            };
        };
    };
    getBookCheck: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BookCheck"];
                };
            };
        };
    };
    listCoupons: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                code?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CouponList"];
                };
            };
        };
    };
    createCoupon: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateCoupon"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Coupon"];
                };
            };
        };
    };
    getCoupon: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Coupon"];
                };
            };
        };
    };
    deleteCoupon: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedCoupon"];
                };
            };
        };
    };
    listCreditAlerts: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditAlertList"];
                };
            };
        };
    };
    createCreditAlert: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateCreditAlert"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditAlert"];
                };
            };
        };
    };
    getCreditAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditAlert"];
                };
            };
        };
    };
    deleteCreditAlert: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedCreditAlert"];
                };
            };
        };
    };
    updateCreditAlert: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateCreditAlert"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditAlert"];
                };
            };
        };
    };
    listCustomers: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                email?: string;
                test_clock_id?: string;
                search?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CustomerList"];
                };
            };
        };
    };
    createCustomer: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateCustomer"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
        };
    };
    getCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
        };
    };
    deleteCustomer: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedCustomer"];
                };
            };
        };
    };
    updateCustomer: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateCustomer"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Customer"];
                };
            };
        };
    };
    listDisputes: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                invoice_id?: string;
                payment_id?: string;
                status?: "open" | "won" | "lost";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DisputeList"];
                };
            };
        };
    };
    getDispute: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Dispute"];
                };
            };
        };
    };
    listInvoiceItems: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                status?: "pending" | "invoiced";
                invoice_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoiceItemList"];
                };
            };
        };
    };
    createInvoiceItem: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInvoiceItem"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoiceItem"];
                };
            };
        };
    };
    getInvoiceItem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoiceItem"];
                };
            };
        };
    };
    deleteInvoiceItem: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedInvoiceItem"];
                };
            };
        };
    };
    listInvoiceProofs: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                invoice_id?: string;
                previous?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoiceProofList"];
                };
            };
        };
    };
    getInvoiceProof: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoiceProof"];
                };
            };
        };
    };
    listPaymentMethods: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                status?: "pending" | "attached" | "failed" | "detached";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentMethodList"];
                };
            };
        };
    };
    createPaymentMethod: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreatePaymentMethod"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentMethod"];
                };
            };
        };
    };
    getPaymentMethod: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentMethod"];
                };
            };
        };
    };
    deletePaymentMethod: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedPaymentMethod"];
                };
            };
        };
    };
    updatePaymentMethod: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdatePaymentMethod"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentMethod"];
                };
            };
        };
    };
    listPlanMigrations: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                status?: "running" | "completed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanMigrationList"];
                };
            };
        };
    };
    createPlanMigration: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreatePlanMigration"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanMigration"];
                };
            };
        };
    };
    getPlanMigration: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanMigration"];
                };
            };
        };
    };
    deletePlanMigration: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedPlanMigration"];
                };
            };
        };
    };
    listRateCards: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                key?: string;
                status?: "current" | "superseded";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateCardList"];
                };
            };
        };
    };
    getRateCard: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RateCard"];
                };
            };
        };
    };
    listRedemptions: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                coupon_id?: string;
                customer_id?: string;
                subscription_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedemptionList"];
                };
            };
        };
    };
    createRedemption: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateRedemption"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Redemption"];
                };
            };
        };
    };
    getRedemption: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Redemption"];
                };
            };
        };
    };
    deleteRedemption: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedRedemption"];
                };
            };
        };
    };
    listRefunds: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                invoice_id?: string;
                payment_id?: string;
                status?: "pending" | "unresolved" | "succeeded" | "failed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RefundList"];
                };
            };
        };
    };
    createRefund: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateRefund"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refund"];
                };
            };
        };
    };
    getRefund: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refund"];
                };
            };
        };
    };
    listSpendAlerts: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpendAlertList"];
                };
            };
        };
    };
    createSpendAlert: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSpendAlert"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpendAlert"];
                };
            };
        };
    };
    getSpendAlert: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpendAlert"];
                };
            };
        };
    };
    deleteSpendAlert: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedSpendAlert"];
                };
            };
        };
    };
    updateSpendAlert: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateSpendAlert"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpendAlert"];
                };
            };
        };
    };
    listTestClocks: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                status?: "ready" | "advancing";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestClockList"];
                };
            };
        };
    };
    createTestClock: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreateTestClock"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestClock"];
                };
            };
        };
    };
    getTestClock: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestClock"];
                };
            };
        };
    };
    deleteTestClock: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedTestClock"];
                };
            };
        };
    };
    listTokenUsages: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                hold_id?: string;
                status?: "rated" | "unrated" | "waived";
                model?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenUsageList"];
                };
            };
        };
    };
    createTokenUsage: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTokenUsage"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenUsage"];
                };
            };
        };
    };
    getTokenUsage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenUsage"];
                };
            };
        };
    };
    listTopUps: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                invoice_id?: string;
                auto_top_up_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopUpList"];
                };
            };
        };
    };
    createTopUp: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTopUp"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopUp"];
                };
            };
        };
    };
    getTopUp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TopUp"];
                };
            };
        };
    };
    pushCatalog: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PushCatalog"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogChangeList"];
                };
            };
        };
    };
    diffCatalog: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PushCatalog"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CatalogChangeList"];
                };
            };
        };
    };
    previewPlan: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewPlan"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanPreview"];
                };
            };
        };
    };
    listPlans: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanList"];
                };
            };
        };
    };
    getPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
        };
    };
    listPlanVersions: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
            };
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanVersionList"];
                };
            };
        };
    };
    getPlanVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: string;
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanVersion"];
                };
            };
        };
    };
    listSubscriptions: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                phase?: "scheduled" | "trialing" | "active" | "paused" | "ended";
                invoice_group?: string;
                currency?: string;
                plan?: string;
                version?: number;
                failure?: "any" | "set_aside";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionList"];
                };
            };
        };
    };
    createSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSubscription"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    previewNewSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateSubscription"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionPreview"];
                };
            };
        };
    };
    getSubscription: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    changeSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ChangeSubscription"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    cancelSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CancelSubscription"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    uncancelSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    pauseSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PauseSubscription"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    resumeSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ResumeSubscription"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
        };
    };
    reconcileSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Reconciliation"];
                };
            };
        };
    };
    previewSubscription: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PreviewSubscription"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionPreview"];
                };
            };
        };
    };
    listInvoices: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                subscription_id?: string;
                status?: "draft" | "open" | "paid" | "void" | "uncollectible";
                currency?: string;
                figure?: "invoiced" | "outstanding" | "not_due" | "late_thirty" | "late_sixty" | "late_more" | "to_retry";
                failure?: "any" | "set_aside";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoiceList"];
                };
            };
        };
    };
    createInvoice: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateInvoice"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
        };
    };
    getUpcomingInvoice: {
        parameters: {
            query: {
                subscription_id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpcomingInvoice"];
                };
            };
        };
    };
    getInvoice: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
        };
    };
    deleteInvoice: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedInvoice"];
                };
            };
        };
    };
    getInvoiceHtml: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    getInvoicePdf: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": string;
                };
            };
        };
    };
    getInvoiceUbl: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/xml": string;
                };
            };
        };
    };
    getInvoiceCii: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/xml": string;
                };
            };
        };
    };
    getInvoiceFacturX: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": string;
                };
            };
        };
    };
    listInvoiceLineRecords: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
            };
            header?: never;
            path: {
                id: string;
                line: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoiceLineRecordList"];
                };
            };
        };
    };
    finalizeInvoice: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
        };
    };
    voidInvoice: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
        };
    };
    markInvoiceUncollectible: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
        };
    };
    listCreditNotes: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                invoice_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditNoteList"];
                };
            };
        };
    };
    createCreditNote: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateCreditNote"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditNote"];
                };
            };
        };
    };
    getCreditNote: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditNote"];
                };
            };
        };
    };
    getCreditNotePdf: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": string;
                };
            };
        };
    };
    getCreditNoteHtml: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    getCreditNoteUbl: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/xml": string;
                };
            };
        };
    };
    getCreditNoteCii: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/xml": string;
                };
            };
        };
    };
    getCreditNoteFacturX: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/pdf": string;
                };
            };
        };
    };
    listPayments: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                invoice_id?: string;
                status?: "open" | "succeeded" | "closed";
                currency?: string;
                figure?: "collected" | "attention";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentList"];
                };
            };
        };
    };
    recordPayment: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecordPayment"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
        };
    };
    payInvoice: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PayInvoice"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Invoice"];
                };
            };
        };
    };
    startInvoicePayment: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartInvoicePayment"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvoicePayment"];
                };
            };
        };
    };
    cancelPayment: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
        };
    };
    getPayment: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Payment"];
                };
            };
        };
    };
    getMoneyOverview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MoneyOverview"];
                };
            };
        };
    };
    getJournal: {
        parameters: {
            query?: {
                start_date?: string;
                end_date?: string;
                starting_after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JournalPage"];
                };
            };
        };
    };
    exportJournal: {
        parameters: {
            query?: {
                start_date?: string;
                end_date?: string;
                format?: "csv" | "hledger" | "json";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    listCreditGrants: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                unit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditGrantList"];
                };
            };
        };
    };
    grantCredits: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GrantCredits"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditGrant"];
                };
            };
        };
    };
    getCreditGrant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditGrant"];
                };
            };
        };
    };
    voidCreditGrant: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditGrant"];
                };
            };
        };
    };
    getCreditBalance: {
        parameters: {
            query: {
                customer_id: string;
                unit: string;
                purpose?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditBalance"];
                };
            };
        };
    };
    consumeCredits: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsumeCredits"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditConsumption"];
                };
            };
        };
    };
    listCreditEntries: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                unit?: string;
                grant_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditEntryList"];
                };
            };
        };
    };
    listHolds: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
                unit?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HoldList"];
                };
            };
        };
    };
    reserveCredits: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReserveCredits"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hold"];
                };
            };
        };
    };
    getHold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hold"];
                };
            };
        };
    };
    extendHold: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ExtendHold"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hold"];
                };
            };
        };
    };
    commitHold: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CommitHold"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommittedHold"];
                };
            };
        };
    };
    releaseHold: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hold"];
                };
            };
        };
    };
    listEntitlements: {
        parameters: {
            query: {
                customer_id: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntitlementList"];
                };
            };
        };
    };
    checkEntitlement: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CheckEntitlement"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Entitlement"];
                };
            };
        };
    };
    consumeEntitlement: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsumeEntitlement"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntitlementConsumption"];
                };
            };
        };
    };
    advanceTestClock: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AdvanceTestClock"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TestClock"];
                };
            };
        };
    };
    createInvoiceLink: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreatePayerLink"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayerLink"];
                };
            };
        };
    };
    createPortalLink: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CreatePayerLink"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PayerLink"];
                };
            };
        };
    };
    startPaymentMethodSetup: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["StartPaymentMethodSetup"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentMethodSetup"];
                };
            };
        };
    };
    refreshPaymentMethod: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentMethod"];
                };
            };
        };
    };
    refreshRefund: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refund"];
                };
            };
        };
    };
    resolveRefund: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResolveRefund"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refund"];
                };
            };
        };
    };
    rateTokenUsage: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenUsage"];
                };
            };
        };
    };
    waiveTokenUsage: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WaiveTokenUsage"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenUsage"];
                };
            };
        };
    };
    summarizeUsage: {
        parameters: {
            query: {
                customer_id: string;
                product_id?: string;
                unit?: string;
                start_date?: string;
                end_date?: string;
                timezone?: string;
                meter?: string;
                where?: string[];
                group_by?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageSummary"];
                };
            };
        };
    };
    recordUsage: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecordUsage"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageRecord"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageRecord"];
                };
            };
        };
    };
    recordUsageBatch: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecordUsageBatch"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageBatch"];
                };
            };
        };
    };
    listUsageSeries: {
        parameters: {
            query: {
                customer_id: string;
                product_id?: string;
                unit?: string;
                start_date: string;
                end_date: string;
                timezone?: string;
                window: "hour" | "day" | "month";
                meter?: string;
                where?: string[];
                group_by?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageSeries"];
                };
            };
        };
    };
    listUsageRecords: {
        parameters: {
            query: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id: string;
                product_id?: string;
                unit?: string;
                meter?: string;
                where?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageRecordList"];
                };
            };
        };
    };
    getUsageRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageRecord"];
                };
            };
        };
    };
    voidUsageRecord: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageRecord"];
                };
            };
        };
    };
    listMeters: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                key?: string;
                product_id?: string;
                unit?: string;
                status?: "building" | "ready" | "archived";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MeterList"];
                };
            };
        };
    };
    createMeter: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateMeter"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Meter"];
                };
            };
        };
    };
    getMeter: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Meter"];
                };
            };
        };
    };
    deleteMeter: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedMeter"];
                };
            };
        };
    };
    updateMeter: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateMeter"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Meter"];
                };
            };
        };
    };
    listUsageThresholds: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                customer_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageThresholdList"];
                };
            };
        };
    };
    createUsageThreshold: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUsageThreshold"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageThreshold"];
                };
            };
        };
    };
    getUsageThreshold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageThreshold"];
                };
            };
        };
    };
    deleteUsageThreshold: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedUsageThreshold"];
                };
            };
        };
    };
    rebuildMeter: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Meter"];
                };
            };
        };
    };
    exportAuditRecords: {
        parameters: {
            query?: {
                object_id?: string;
                actor_id?: string;
                action?: string;
                created_after?: string;
                created_before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": string;
                };
            };
        };
    };
    exportCustomer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/jsonl": string;
                };
            };
        };
    };
    listEventTypes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventTypeList"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                type?: string;
                customer_id?: string;
                created_after?: string;
                created_before?: string;
                delivery_status?: "Pending" | "Delivered" | "Failed";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventList"];
                };
            };
        };
    };
    publishEvent: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PublishEvent"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                types?: string;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    getEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventWithDeliveries"];
                };
            };
        };
    };
    replayEvent: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReplayEvent"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayedDeliveries"];
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                status?: "Pending" | "Delivered" | "Failed";
                endpoint_id?: string;
                event_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryList"];
                };
            };
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryWithAttempts"];
                };
            };
        };
    };
    replayDelivery: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
        };
    };
    getWebhookStatistics: {
        parameters: {
            query?: {
                hours?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookStatistics"];
                };
            };
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                limit?: number;
                starting_after?: string;
                ending_before?: string;
                status?: "enabled" | "disabled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointList"];
                };
            };
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookEndpoint"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
        };
    };
    getWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedWebhookEndpoint"];
                };
            };
        };
    };
    updateWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UpdateWebhookEndpoint"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpoint"];
                };
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateWebhookSecret"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookEndpointWithSecret"];
                };
            };
        };
    };
    testWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TestWebhookEndpoint"];
            };
        };
        responses: {
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Event"];
                };
            };
        };
    };
    replayWebhookEvents: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayWebhookEvents"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookReplay"];
                };
            };
        };
    };
    receiveProviderNotice: {
        parameters: {
            query?: {
                account_id?: string;
                mode?: "live" | "test";
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NoticeReceipt"];
                };
            };
        };
    };
    isLive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    isReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    "webhook.api_key.expiring": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "api_key.expiring";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        api_key_id: string;
                        name: string;
                        hint: string;
                        /** Format: date-time */
                        expires_at: string;
                        /** Format: date-time */
                        last_used_at: string | null;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.book_check.failed": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "book_check.failed";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        book_check_id: string;
                        night: string | null;
                        /** Format: int64 */
                        invoices: number;
                        /** Format: int64 */
                        credit_accounts: number;
                        /** Format: int64 */
                        differences: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.credit.adjusted": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "credit.adjusted";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        customer_id: string;
                        unit: string;
                        /** Format: int64 */
                        available: number;
                        /** Format: int64 */
                        held: number;
                        /** Format: int64 */
                        debt: number;
                        /** Format: int64 */
                        sequence: number;
                        grant_id: string;
                        /** Format: int64 */
                        amount: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.credit.exhausted": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "credit.exhausted";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        customer_id: string;
                        unit: string;
                        /** Format: int64 */
                        available: number;
                        /** Format: int64 */
                        held: number;
                        /** Format: int64 */
                        debt: number;
                        /** Format: int64 */
                        sequence: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.credit.expired": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "credit.expired";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        customer_id: string;
                        unit: string;
                        /** Format: int64 */
                        available: number;
                        /** Format: int64 */
                        held: number;
                        /** Format: int64 */
                        debt: number;
                        /** Format: int64 */
                        sequence: number;
                        grant_id: string;
                        /** Format: int64 */
                        amount: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.credit.granted": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "credit.granted";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        customer_id: string;
                        unit: string;
                        /** Format: int64 */
                        available: number;
                        /** Format: int64 */
                        held: number;
                        /** Format: int64 */
                        debt: number;
                        /** Format: int64 */
                        sequence: number;
                        grant_id: string;
                        /** Format: int64 */
                        amount: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.credit.low": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "credit.low";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        customer_id: string;
                        unit: string;
                        /** Format: int64 */
                        available: number;
                        /** Format: int64 */
                        held: number;
                        /** Format: int64 */
                        debt: number;
                        /** Format: int64 */
                        sequence: number;
                        credit_alert_id: string;
                        /** Format: int64 */
                        level: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.credit.top_up_suspended": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "credit.top_up_suspended";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        auto_top_up_id: string;
                        customer_id: string;
                        unit: string;
                        invoice_id: string;
                        currency: string;
                        /** Format: int64 */
                        price: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.credit_note.created": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "credit_note.created";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        credit_note_id: string;
                        number: string;
                        invoice_id: string;
                        customer_id: string;
                        /** @enum {string} */
                        reason: "duplicate" | "fraudulent" | "order_change" | "unsatisfactory" | "usage_corrected" | "other";
                        currency: string;
                        lines: {
                            line_id: string;
                            /** Format: int64 */
                            amount: number;
                        }[];
                        /** Format: int64 */
                        line_count: number;
                        /** Format: int64 */
                        net: number;
                        /** Format: int64 */
                        tax: number;
                        /** Format: int64 */
                        total: number;
                        /** Format: int64 */
                        waived: number;
                        /** Format: int64 */
                        refund: number;
                        /** Format: int64 */
                        to_balance: number;
                        /** Format: date-time */
                        issued_at: string;
                        invoice: {
                            /** @enum {string} */
                            status: "draft" | "open" | "paid" | "void" | "uncollectible";
                            /** Format: int64 */
                            amount_credited: number;
                            /** Format: int64 */
                            amount_due: number;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.dispute.closed": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "dispute.closed";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        dispute_id: string;
                        payment_id: string;
                        invoice_id: string;
                        customer_id: string;
                        currency: string;
                        /** Format: int64 */
                        amount: number;
                        /** Format: int64 */
                        reversed: number;
                        reason: string;
                        /** @enum {string} */
                        status: "open" | "won" | "lost";
                        provider: string;
                        /** Format: date-time */
                        respond_by: string | null;
                        /** Format: int64 */
                        sequence: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.dispute.opened": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "dispute.opened";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        dispute_id: string;
                        payment_id: string;
                        invoice_id: string;
                        customer_id: string;
                        currency: string;
                        /** Format: int64 */
                        amount: number;
                        /** Format: int64 */
                        reversed: number;
                        reason: string;
                        /** @enum {string} */
                        status: "open" | "won" | "lost";
                        provider: string;
                        /** Format: date-time */
                        respond_by: string | null;
                        /** Format: int64 */
                        sequence: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.entitlement.limit_reached": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "entitlement.limit_reached";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        customer_id: string;
                        subscription_id: string;
                        feature: string;
                        meter: string;
                        /** @enum {string} */
                        limit_type: "hard" | "soft";
                        /** Format: int64 */
                        limit: number;
                        /** Format: int64 */
                        used: number;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        resets_at: string;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.invoice.collection_exhausted": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "invoice.collection_exhausted";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        invoice_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        number?: string;
                        /** Format: date-time */
                        due_at?: string;
                        /** Format: date-time */
                        paid_at?: string;
                        /** Format: date-time */
                        period_start?: string;
                        /** Format: date-time */
                        period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        invoice?: {
                            id: string;
                            number: string | null;
                            /** @enum {string} */
                            status: "draft" | "open" | "paid" | "void" | "uncollectible";
                            customer_id: string;
                            subscription_id: string | null;
                            subscription_ids: string[];
                            currency: string;
                            /** Format: date-time */
                            period_start: string | null;
                            /** Format: date-time */
                            period_end: string | null;
                            lines: {
                                id: string;
                                /** @enum {string} */
                                kind: "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up";
                                charge: string | null;
                                description: string;
                                subscription_id: string | null;
                                /** Format: date-time */
                                period_start: string | null;
                                /** Format: date-time */
                                period_end: string | null;
                                quantity: string | null;
                                /** Format: int64 */
                                amount: number;
                            }[];
                            /** Format: int64 */
                            line_count: number;
                            /** Format: int64 */
                            subtotal: number;
                            /** Format: int64 */
                            tax: number;
                            /** Format: int64 */
                            total: number;
                            /** Format: int64 */
                            amount_paid: number;
                            /** Format: int64 */
                            amount_due: number;
                            /** Format: date-time */
                            issued_at: string | null;
                            /** Format: date-time */
                            due_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.invoice.created": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "invoice.created";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        invoice_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        number?: string;
                        /** Format: date-time */
                        due_at?: string;
                        /** Format: date-time */
                        paid_at?: string;
                        /** Format: date-time */
                        period_start?: string;
                        /** Format: date-time */
                        period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        invoice?: {
                            id: string;
                            number: string | null;
                            /** @enum {string} */
                            status: "draft" | "open" | "paid" | "void" | "uncollectible";
                            customer_id: string;
                            subscription_id: string | null;
                            subscription_ids: string[];
                            currency: string;
                            /** Format: date-time */
                            period_start: string | null;
                            /** Format: date-time */
                            period_end: string | null;
                            lines: {
                                id: string;
                                /** @enum {string} */
                                kind: "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up";
                                charge: string | null;
                                description: string;
                                subscription_id: string | null;
                                /** Format: date-time */
                                period_start: string | null;
                                /** Format: date-time */
                                period_end: string | null;
                                quantity: string | null;
                                /** Format: int64 */
                                amount: number;
                            }[];
                            /** Format: int64 */
                            line_count: number;
                            /** Format: int64 */
                            subtotal: number;
                            /** Format: int64 */
                            tax: number;
                            /** Format: int64 */
                            total: number;
                            /** Format: int64 */
                            amount_paid: number;
                            /** Format: int64 */
                            amount_due: number;
                            /** Format: date-time */
                            issued_at: string | null;
                            /** Format: date-time */
                            due_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.invoice.deleted": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "invoice.deleted";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        invoice_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        number?: string;
                        /** Format: date-time */
                        due_at?: string;
                        /** Format: date-time */
                        paid_at?: string;
                        /** Format: date-time */
                        period_start?: string;
                        /** Format: date-time */
                        period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        invoice?: {
                            id: string;
                            number: string | null;
                            /** @enum {string} */
                            status: "draft" | "open" | "paid" | "void" | "uncollectible";
                            customer_id: string;
                            subscription_id: string | null;
                            subscription_ids: string[];
                            currency: string;
                            /** Format: date-time */
                            period_start: string | null;
                            /** Format: date-time */
                            period_end: string | null;
                            lines: {
                                id: string;
                                /** @enum {string} */
                                kind: "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up";
                                charge: string | null;
                                description: string;
                                subscription_id: string | null;
                                /** Format: date-time */
                                period_start: string | null;
                                /** Format: date-time */
                                period_end: string | null;
                                quantity: string | null;
                                /** Format: int64 */
                                amount: number;
                            }[];
                            /** Format: int64 */
                            line_count: number;
                            /** Format: int64 */
                            subtotal: number;
                            /** Format: int64 */
                            tax: number;
                            /** Format: int64 */
                            total: number;
                            /** Format: int64 */
                            amount_paid: number;
                            /** Format: int64 */
                            amount_due: number;
                            /** Format: date-time */
                            issued_at: string | null;
                            /** Format: date-time */
                            due_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.invoice.finalized": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "invoice.finalized";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        invoice_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        number?: string;
                        /** Format: date-time */
                        due_at?: string;
                        /** Format: date-time */
                        paid_at?: string;
                        /** Format: date-time */
                        period_start?: string;
                        /** Format: date-time */
                        period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        invoice?: {
                            id: string;
                            number: string | null;
                            /** @enum {string} */
                            status: "draft" | "open" | "paid" | "void" | "uncollectible";
                            customer_id: string;
                            subscription_id: string | null;
                            subscription_ids: string[];
                            currency: string;
                            /** Format: date-time */
                            period_start: string | null;
                            /** Format: date-time */
                            period_end: string | null;
                            lines: {
                                id: string;
                                /** @enum {string} */
                                kind: "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up";
                                charge: string | null;
                                description: string;
                                subscription_id: string | null;
                                /** Format: date-time */
                                period_start: string | null;
                                /** Format: date-time */
                                period_end: string | null;
                                quantity: string | null;
                                /** Format: int64 */
                                amount: number;
                            }[];
                            /** Format: int64 */
                            line_count: number;
                            /** Format: int64 */
                            subtotal: number;
                            /** Format: int64 */
                            tax: number;
                            /** Format: int64 */
                            total: number;
                            /** Format: int64 */
                            amount_paid: number;
                            /** Format: int64 */
                            amount_due: number;
                            /** Format: date-time */
                            issued_at: string | null;
                            /** Format: date-time */
                            due_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.invoice.marked_uncollectible": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "invoice.marked_uncollectible";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        invoice_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        number?: string;
                        /** Format: date-time */
                        due_at?: string;
                        /** Format: date-time */
                        paid_at?: string;
                        /** Format: date-time */
                        period_start?: string;
                        /** Format: date-time */
                        period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        invoice?: {
                            id: string;
                            number: string | null;
                            /** @enum {string} */
                            status: "draft" | "open" | "paid" | "void" | "uncollectible";
                            customer_id: string;
                            subscription_id: string | null;
                            subscription_ids: string[];
                            currency: string;
                            /** Format: date-time */
                            period_start: string | null;
                            /** Format: date-time */
                            period_end: string | null;
                            lines: {
                                id: string;
                                /** @enum {string} */
                                kind: "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up";
                                charge: string | null;
                                description: string;
                                subscription_id: string | null;
                                /** Format: date-time */
                                period_start: string | null;
                                /** Format: date-time */
                                period_end: string | null;
                                quantity: string | null;
                                /** Format: int64 */
                                amount: number;
                            }[];
                            /** Format: int64 */
                            line_count: number;
                            /** Format: int64 */
                            subtotal: number;
                            /** Format: int64 */
                            tax: number;
                            /** Format: int64 */
                            total: number;
                            /** Format: int64 */
                            amount_paid: number;
                            /** Format: int64 */
                            amount_due: number;
                            /** Format: date-time */
                            issued_at: string | null;
                            /** Format: date-time */
                            due_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.invoice.overdue": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "invoice.overdue";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        invoice_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        number?: string;
                        /** Format: date-time */
                        due_at?: string;
                        /** Format: date-time */
                        paid_at?: string;
                        /** Format: date-time */
                        period_start?: string;
                        /** Format: date-time */
                        period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        invoice?: {
                            id: string;
                            number: string | null;
                            /** @enum {string} */
                            status: "draft" | "open" | "paid" | "void" | "uncollectible";
                            customer_id: string;
                            subscription_id: string | null;
                            subscription_ids: string[];
                            currency: string;
                            /** Format: date-time */
                            period_start: string | null;
                            /** Format: date-time */
                            period_end: string | null;
                            lines: {
                                id: string;
                                /** @enum {string} */
                                kind: "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up";
                                charge: string | null;
                                description: string;
                                subscription_id: string | null;
                                /** Format: date-time */
                                period_start: string | null;
                                /** Format: date-time */
                                period_end: string | null;
                                quantity: string | null;
                                /** Format: int64 */
                                amount: number;
                            }[];
                            /** Format: int64 */
                            line_count: number;
                            /** Format: int64 */
                            subtotal: number;
                            /** Format: int64 */
                            tax: number;
                            /** Format: int64 */
                            total: number;
                            /** Format: int64 */
                            amount_paid: number;
                            /** Format: int64 */
                            amount_due: number;
                            /** Format: date-time */
                            issued_at: string | null;
                            /** Format: date-time */
                            due_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.invoice.paid": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "invoice.paid";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        invoice_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        number?: string;
                        /** Format: date-time */
                        due_at?: string;
                        /** Format: date-time */
                        paid_at?: string;
                        /** Format: date-time */
                        period_start?: string;
                        /** Format: date-time */
                        period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        invoice?: {
                            id: string;
                            number: string | null;
                            /** @enum {string} */
                            status: "draft" | "open" | "paid" | "void" | "uncollectible";
                            customer_id: string;
                            subscription_id: string | null;
                            subscription_ids: string[];
                            currency: string;
                            /** Format: date-time */
                            period_start: string | null;
                            /** Format: date-time */
                            period_end: string | null;
                            lines: {
                                id: string;
                                /** @enum {string} */
                                kind: "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up";
                                charge: string | null;
                                description: string;
                                subscription_id: string | null;
                                /** Format: date-time */
                                period_start: string | null;
                                /** Format: date-time */
                                period_end: string | null;
                                quantity: string | null;
                                /** Format: int64 */
                                amount: number;
                            }[];
                            /** Format: int64 */
                            line_count: number;
                            /** Format: int64 */
                            subtotal: number;
                            /** Format: int64 */
                            tax: number;
                            /** Format: int64 */
                            total: number;
                            /** Format: int64 */
                            amount_paid: number;
                            /** Format: int64 */
                            amount_due: number;
                            /** Format: date-time */
                            issued_at: string | null;
                            /** Format: date-time */
                            due_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.invoice.reopened": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "invoice.reopened";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        invoice_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        number?: string;
                        /** Format: date-time */
                        due_at?: string;
                        /** Format: date-time */
                        paid_at?: string;
                        /** Format: date-time */
                        period_start?: string;
                        /** Format: date-time */
                        period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        invoice?: {
                            id: string;
                            number: string | null;
                            /** @enum {string} */
                            status: "draft" | "open" | "paid" | "void" | "uncollectible";
                            customer_id: string;
                            subscription_id: string | null;
                            subscription_ids: string[];
                            currency: string;
                            /** Format: date-time */
                            period_start: string | null;
                            /** Format: date-time */
                            period_end: string | null;
                            lines: {
                                id: string;
                                /** @enum {string} */
                                kind: "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up";
                                charge: string | null;
                                description: string;
                                subscription_id: string | null;
                                /** Format: date-time */
                                period_start: string | null;
                                /** Format: date-time */
                                period_end: string | null;
                                quantity: string | null;
                                /** Format: int64 */
                                amount: number;
                            }[];
                            /** Format: int64 */
                            line_count: number;
                            /** Format: int64 */
                            subtotal: number;
                            /** Format: int64 */
                            tax: number;
                            /** Format: int64 */
                            total: number;
                            /** Format: int64 */
                            amount_paid: number;
                            /** Format: int64 */
                            amount_due: number;
                            /** Format: date-time */
                            issued_at: string | null;
                            /** Format: date-time */
                            due_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.invoice.voided": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "invoice.voided";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        invoice_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        number?: string;
                        /** Format: date-time */
                        due_at?: string;
                        /** Format: date-time */
                        paid_at?: string;
                        /** Format: date-time */
                        period_start?: string;
                        /** Format: date-time */
                        period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        invoice?: {
                            id: string;
                            number: string | null;
                            /** @enum {string} */
                            status: "draft" | "open" | "paid" | "void" | "uncollectible";
                            customer_id: string;
                            subscription_id: string | null;
                            subscription_ids: string[];
                            currency: string;
                            /** Format: date-time */
                            period_start: string | null;
                            /** Format: date-time */
                            period_end: string | null;
                            lines: {
                                id: string;
                                /** @enum {string} */
                                kind: "advance" | "usage" | "credit" | "adjustment" | "item" | "true_up" | "top_up";
                                charge: string | null;
                                description: string;
                                subscription_id: string | null;
                                /** Format: date-time */
                                period_start: string | null;
                                /** Format: date-time */
                                period_end: string | null;
                                quantity: string | null;
                                /** Format: int64 */
                                amount: number;
                            }[];
                            /** Format: int64 */
                            line_count: number;
                            /** Format: int64 */
                            subtotal: number;
                            /** Format: int64 */
                            tax: number;
                            /** Format: int64 */
                            total: number;
                            /** Format: int64 */
                            amount_paid: number;
                            /** Format: int64 */
                            amount_due: number;
                            /** Format: date-time */
                            issued_at: string | null;
                            /** Format: date-time */
                            due_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.payment.action_required": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "payment.action_required";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        payment_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        invoice_id?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        payment?: {
                            id: string;
                            invoice_id: string;
                            customer_id: string;
                            currency: string;
                            provider: string;
                            reference: string | null;
                            /** @enum {string} */
                            status: "open" | "succeeded" | "closed";
                            /** Format: int64 */
                            amount: number;
                            /** Format: int64 */
                            applied: number;
                            /** Format: int64 */
                            overpaid: number;
                            /** Format: date-time */
                            paid_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.payment.failed": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "payment.failed";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        payment_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        invoice_id?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        payment?: {
                            id: string;
                            invoice_id: string;
                            customer_id: string;
                            currency: string;
                            provider: string;
                            reference: string | null;
                            /** @enum {string} */
                            status: "open" | "succeeded" | "closed";
                            /** Format: int64 */
                            amount: number;
                            /** Format: int64 */
                            applied: number;
                            /** Format: int64 */
                            overpaid: number;
                            /** Format: date-time */
                            paid_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                        failure_code?: string;
                        failure_message?: string;
                        will_retry?: boolean;
                        /** Format: date-time */
                        next_attempt_at?: string | null;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.payment.needs_attention": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "payment.needs_attention";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        payment_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        invoice_id?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        payment?: {
                            id: string;
                            invoice_id: string;
                            customer_id: string;
                            currency: string;
                            provider: string;
                            reference: string | null;
                            /** @enum {string} */
                            status: "open" | "succeeded" | "closed";
                            /** Format: int64 */
                            amount: number;
                            /** Format: int64 */
                            applied: number;
                            /** Format: int64 */
                            overpaid: number;
                            /** Format: date-time */
                            paid_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                        /** @enum {string} */
                        attention_code?: "provider_refused" | "provider_unreachable" | "outcome_unknown" | "no_result" | "closed_at_provider" | "not_closed" | "not_chargeable";
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.payment.overpaid": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "payment.overpaid";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        payment_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        invoice_id?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        payment?: {
                            id: string;
                            invoice_id: string;
                            customer_id: string;
                            currency: string;
                            provider: string;
                            reference: string | null;
                            /** @enum {string} */
                            status: "open" | "succeeded" | "closed";
                            /** Format: int64 */
                            amount: number;
                            /** Format: int64 */
                            applied: number;
                            /** Format: int64 */
                            overpaid: number;
                            /** Format: date-time */
                            paid_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.payment.processing": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "payment.processing";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        payment_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        invoice_id?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        payment?: {
                            id: string;
                            invoice_id: string;
                            customer_id: string;
                            currency: string;
                            provider: string;
                            reference: string | null;
                            /** @enum {string} */
                            status: "open" | "succeeded" | "closed";
                            /** Format: int64 */
                            amount: number;
                            /** Format: int64 */
                            applied: number;
                            /** Format: int64 */
                            overpaid: number;
                            /** Format: date-time */
                            paid_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.payment.succeeded": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "payment.succeeded";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        payment_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        invoice_id?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        payment?: {
                            id: string;
                            invoice_id: string;
                            customer_id: string;
                            currency: string;
                            provider: string;
                            reference: string | null;
                            /** @enum {string} */
                            status: "open" | "succeeded" | "closed";
                            /** Format: int64 */
                            amount: number;
                            /** Format: int64 */
                            applied: number;
                            /** Format: int64 */
                            overpaid: number;
                            /** Format: date-time */
                            paid_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.payment.unresolved": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "payment.unresolved";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        payment_id: string;
                        customer_id: string;
                        /** Format: int64 */
                        amount: number;
                        currency: string;
                        invoice_id?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        payment?: {
                            id: string;
                            invoice_id: string;
                            customer_id: string;
                            currency: string;
                            provider: string;
                            reference: string | null;
                            /** @enum {string} */
                            status: "open" | "succeeded" | "closed";
                            /** Format: int64 */
                            amount: number;
                            /** Format: int64 */
                            applied: number;
                            /** Format: int64 */
                            overpaid: number;
                            /** Format: date-time */
                            paid_at: string | null;
                            /** Format: int64 */
                            sequence: number;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.payment_method.attached": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "payment_method.attached";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        payment_method_id: string;
                        customer_id: string;
                        provider: string;
                        /** @enum {string} */
                        status: "pending" | "attached" | "failed" | "detached";
                        is_default: boolean;
                        type: string | null;
                        expiry: {
                            /** Format: int64 */
                            month: number;
                            /** Format: int64 */
                            year: number;
                        } | null;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.payment_method.detached": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "payment_method.detached";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        payment_method_id: string;
                        customer_id: string;
                        provider: string;
                        /** @enum {string} */
                        status: "pending" | "attached" | "failed" | "detached";
                        is_default: boolean;
                        type: string | null;
                        expiry: {
                            /** Format: int64 */
                            month: number;
                            /** Format: int64 */
                            year: number;
                        } | null;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.payment_method.expiring": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "payment_method.expiring";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        payment_method_id: string;
                        customer_id: string;
                        provider: string;
                        /** @enum {string} */
                        status: "pending" | "attached" | "failed" | "detached";
                        is_default: boolean;
                        type: string | null;
                        expiry: {
                            /** Format: int64 */
                            month: number;
                            /** Format: int64 */
                            year: number;
                        } | null;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.payment_method.updated": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "payment_method.updated";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        payment_method_id: string;
                        customer_id: string;
                        provider: string;
                        /** @enum {string} */
                        status: "pending" | "attached" | "failed" | "detached";
                        is_default: boolean;
                        type: string | null;
                        expiry: {
                            /** Format: int64 */
                            month: number;
                            /** Format: int64 */
                            year: number;
                        } | null;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.refund.created": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "refund.created";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        refund_id: string;
                        payment_id: string;
                        invoice_id: string;
                        customer_id: string;
                        credit_note_id: string | null;
                        currency: string;
                        /** Format: int64 */
                        amount: number;
                        /** Format: int64 */
                        reversed: number;
                        /** @enum {string} */
                        reason: "duplicate" | "fraudulent" | "order_change" | "unsatisfactory" | "usage_corrected" | "other";
                        /** @enum {string} */
                        status: "pending" | "unresolved" | "succeeded" | "failed";
                        failure_code: string | null;
                        provider: string;
                        /** Format: int64 */
                        sequence: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.refund.failed": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "refund.failed";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        refund_id: string;
                        payment_id: string;
                        invoice_id: string;
                        customer_id: string;
                        credit_note_id: string | null;
                        currency: string;
                        /** Format: int64 */
                        amount: number;
                        /** Format: int64 */
                        reversed: number;
                        /** @enum {string} */
                        reason: "duplicate" | "fraudulent" | "order_change" | "unsatisfactory" | "usage_corrected" | "other";
                        /** @enum {string} */
                        status: "pending" | "unresolved" | "succeeded" | "failed";
                        failure_code: string | null;
                        provider: string;
                        /** Format: int64 */
                        sequence: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.refund.succeeded": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "refund.succeeded";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        refund_id: string;
                        payment_id: string;
                        invoice_id: string;
                        customer_id: string;
                        credit_note_id: string | null;
                        currency: string;
                        /** Format: int64 */
                        amount: number;
                        /** Format: int64 */
                        reversed: number;
                        /** @enum {string} */
                        reason: "duplicate" | "fraudulent" | "order_change" | "unsatisfactory" | "usage_corrected" | "other";
                        /** @enum {string} */
                        status: "pending" | "unresolved" | "succeeded" | "failed";
                        failure_code: string | null;
                        provider: string;
                        /** Format: int64 */
                        sequence: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.spend.alert": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "spend.alert";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        spend_alert_id: string;
                        customer_id: string;
                        subscription_id: string | null;
                        currency: string;
                        /** Format: int64 */
                        amount: number;
                        /** Format: int64 */
                        spent: number;
                        /** @enum {string} */
                        action: "notify" | "block" | "invoice";
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.subscription.activated": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "subscription.activated";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        subscription_id: string;
                        customer_id: string;
                        product_id: string;
                        /** Format: date-time */
                        current_period_start?: string;
                        /** Format: date-time */
                        current_period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        subscription?: {
                            id: string;
                            customer_id: string;
                            /** @enum {string} */
                            phase: "scheduled" | "trialing" | "active" | "paused" | "ended";
                            plan: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            currency: string;
                            quantities: {
                                [key: string]: string;
                            };
                            pending: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            start_at: string;
                            /** Format: date-time */
                            trial_end_at: string | null;
                            /** Format: date-time */
                            current_period_start: string | null;
                            /** Format: date-time */
                            current_period_end: string | null;
                            /** Format: date-time */
                            ends_at: string | null;
                            /** Format: date-time */
                            ended_at: string | null;
                            metadata: {
                                [key: string]: string;
                            };
                            /** Format: int64 */
                            sequence: number;
                        };
                        previous?: {
                            plan?: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            quantities?: {
                                [key: string]: string;
                            };
                            pending?: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            ends_at?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.subscription.canceled": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "subscription.canceled";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        subscription_id: string;
                        customer_id: string;
                        product_id: string;
                        /** Format: date-time */
                        current_period_start?: string;
                        /** Format: date-time */
                        current_period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        subscription?: {
                            id: string;
                            customer_id: string;
                            /** @enum {string} */
                            phase: "scheduled" | "trialing" | "active" | "paused" | "ended";
                            plan: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            currency: string;
                            quantities: {
                                [key: string]: string;
                            };
                            pending: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            start_at: string;
                            /** Format: date-time */
                            trial_end_at: string | null;
                            /** Format: date-time */
                            current_period_start: string | null;
                            /** Format: date-time */
                            current_period_end: string | null;
                            /** Format: date-time */
                            ends_at: string | null;
                            /** Format: date-time */
                            ended_at: string | null;
                            metadata: {
                                [key: string]: string;
                            };
                            /** Format: int64 */
                            sequence: number;
                        };
                        previous?: {
                            plan?: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            quantities?: {
                                [key: string]: string;
                            };
                            pending?: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            ends_at?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.subscription.created": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "subscription.created";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        subscription_id: string;
                        customer_id: string;
                        product_id: string;
                        /** Format: date-time */
                        current_period_start?: string;
                        /** Format: date-time */
                        current_period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        subscription?: {
                            id: string;
                            customer_id: string;
                            /** @enum {string} */
                            phase: "scheduled" | "trialing" | "active" | "paused" | "ended";
                            plan: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            currency: string;
                            quantities: {
                                [key: string]: string;
                            };
                            pending: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            start_at: string;
                            /** Format: date-time */
                            trial_end_at: string | null;
                            /** Format: date-time */
                            current_period_start: string | null;
                            /** Format: date-time */
                            current_period_end: string | null;
                            /** Format: date-time */
                            ends_at: string | null;
                            /** Format: date-time */
                            ended_at: string | null;
                            metadata: {
                                [key: string]: string;
                            };
                            /** Format: int64 */
                            sequence: number;
                        };
                        previous?: {
                            plan?: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            quantities?: {
                                [key: string]: string;
                            };
                            pending?: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            ends_at?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.subscription.ended": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "subscription.ended";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        subscription_id: string;
                        customer_id: string;
                        product_id: string;
                        /** Format: date-time */
                        current_period_start?: string;
                        /** Format: date-time */
                        current_period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        subscription?: {
                            id: string;
                            customer_id: string;
                            /** @enum {string} */
                            phase: "scheduled" | "trialing" | "active" | "paused" | "ended";
                            plan: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            currency: string;
                            quantities: {
                                [key: string]: string;
                            };
                            pending: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            start_at: string;
                            /** Format: date-time */
                            trial_end_at: string | null;
                            /** Format: date-time */
                            current_period_start: string | null;
                            /** Format: date-time */
                            current_period_end: string | null;
                            /** Format: date-time */
                            ends_at: string | null;
                            /** Format: date-time */
                            ended_at: string | null;
                            metadata: {
                                [key: string]: string;
                            };
                            /** Format: int64 */
                            sequence: number;
                        };
                        previous?: {
                            plan?: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            quantities?: {
                                [key: string]: string;
                            };
                            pending?: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            ends_at?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.subscription.paused": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "subscription.paused";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        subscription_id: string;
                        customer_id: string;
                        product_id: string;
                        /** Format: date-time */
                        current_period_start?: string;
                        /** Format: date-time */
                        current_period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        subscription?: {
                            id: string;
                            customer_id: string;
                            /** @enum {string} */
                            phase: "scheduled" | "trialing" | "active" | "paused" | "ended";
                            plan: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            currency: string;
                            quantities: {
                                [key: string]: string;
                            };
                            pending: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            start_at: string;
                            /** Format: date-time */
                            trial_end_at: string | null;
                            /** Format: date-time */
                            current_period_start: string | null;
                            /** Format: date-time */
                            current_period_end: string | null;
                            /** Format: date-time */
                            ends_at: string | null;
                            /** Format: date-time */
                            ended_at: string | null;
                            metadata: {
                                [key: string]: string;
                            };
                            /** Format: int64 */
                            sequence: number;
                        };
                        previous?: {
                            plan?: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            quantities?: {
                                [key: string]: string;
                            };
                            pending?: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            ends_at?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.subscription.renewed": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "subscription.renewed";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        subscription_id: string;
                        customer_id: string;
                        product_id: string;
                        /** Format: date-time */
                        current_period_start?: string;
                        /** Format: date-time */
                        current_period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        subscription?: {
                            id: string;
                            customer_id: string;
                            /** @enum {string} */
                            phase: "scheduled" | "trialing" | "active" | "paused" | "ended";
                            plan: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            currency: string;
                            quantities: {
                                [key: string]: string;
                            };
                            pending: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            start_at: string;
                            /** Format: date-time */
                            trial_end_at: string | null;
                            /** Format: date-time */
                            current_period_start: string | null;
                            /** Format: date-time */
                            current_period_end: string | null;
                            /** Format: date-time */
                            ends_at: string | null;
                            /** Format: date-time */
                            ended_at: string | null;
                            metadata: {
                                [key: string]: string;
                            };
                            /** Format: int64 */
                            sequence: number;
                        };
                        previous?: {
                            plan?: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            quantities?: {
                                [key: string]: string;
                            };
                            pending?: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            ends_at?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.subscription.resumed": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "subscription.resumed";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        subscription_id: string;
                        customer_id: string;
                        product_id: string;
                        /** Format: date-time */
                        current_period_start?: string;
                        /** Format: date-time */
                        current_period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        subscription?: {
                            id: string;
                            customer_id: string;
                            /** @enum {string} */
                            phase: "scheduled" | "trialing" | "active" | "paused" | "ended";
                            plan: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            currency: string;
                            quantities: {
                                [key: string]: string;
                            };
                            pending: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            start_at: string;
                            /** Format: date-time */
                            trial_end_at: string | null;
                            /** Format: date-time */
                            current_period_start: string | null;
                            /** Format: date-time */
                            current_period_end: string | null;
                            /** Format: date-time */
                            ends_at: string | null;
                            /** Format: date-time */
                            ended_at: string | null;
                            metadata: {
                                [key: string]: string;
                            };
                            /** Format: int64 */
                            sequence: number;
                        };
                        previous?: {
                            plan?: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            quantities?: {
                                [key: string]: string;
                            };
                            pending?: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            ends_at?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.subscription.trial_ending": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "subscription.trial_ending";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        subscription_id: string;
                        customer_id: string;
                        product_id: string;
                        /** Format: date-time */
                        current_period_start?: string;
                        /** Format: date-time */
                        current_period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        subscription?: {
                            id: string;
                            customer_id: string;
                            /** @enum {string} */
                            phase: "scheduled" | "trialing" | "active" | "paused" | "ended";
                            plan: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            currency: string;
                            quantities: {
                                [key: string]: string;
                            };
                            pending: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            start_at: string;
                            /** Format: date-time */
                            trial_end_at: string | null;
                            /** Format: date-time */
                            current_period_start: string | null;
                            /** Format: date-time */
                            current_period_end: string | null;
                            /** Format: date-time */
                            ends_at: string | null;
                            /** Format: date-time */
                            ended_at: string | null;
                            metadata: {
                                [key: string]: string;
                            };
                            /** Format: int64 */
                            sequence: number;
                        };
                        previous?: {
                            plan?: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            quantities?: {
                                [key: string]: string;
                            };
                            pending?: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            ends_at?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.subscription.updated": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "subscription.updated";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        subscription_id: string;
                        customer_id: string;
                        product_id: string;
                        /** Format: date-time */
                        current_period_start?: string;
                        /** Format: date-time */
                        current_period_end?: string;
                        metadata?: {
                            [key: string]: string;
                        };
                        subscription?: {
                            id: string;
                            customer_id: string;
                            /** @enum {string} */
                            phase: "scheduled" | "trialing" | "active" | "paused" | "ended";
                            plan: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            currency: string;
                            quantities: {
                                [key: string]: string;
                            };
                            pending: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            start_at: string;
                            /** Format: date-time */
                            trial_end_at: string | null;
                            /** Format: date-time */
                            current_period_start: string | null;
                            /** Format: date-time */
                            current_period_end: string | null;
                            /** Format: date-time */
                            ends_at: string | null;
                            /** Format: date-time */
                            ended_at: string | null;
                            metadata: {
                                [key: string]: string;
                            };
                            /** Format: int64 */
                            sequence: number;
                        };
                        previous?: {
                            plan?: {
                                key: string;
                                /** Format: int64 */
                                version: number;
                            };
                            quantities?: {
                                [key: string]: string;
                            };
                            pending?: {
                                plan: {
                                    key: string;
                                    /** Format: int64 */
                                    version: number;
                                } | null;
                                quantities: {
                                    [key: string]: string;
                                };
                                at: string;
                            } | null;
                            /** Format: date-time */
                            ends_at?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.usage.threshold": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "usage.threshold";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        threshold_id: string;
                        customer_id: string;
                        product_id: string;
                        unit: string;
                        /** Format: int64 */
                        quantity: number;
                        /** @enum {string} */
                        period: "day" | "month" | "lifetime";
                        period_key: string;
                        /** Format: int64 */
                        total_quantity: number;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.usage.unbilled": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "usage.unbilled";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        customer_id: string;
                        subscription_id: string;
                        currency: string;
                        /** Format: int64 */
                        amount: number;
                        /** Format: date-time */
                        period_start: string;
                        /** Format: date-time */
                        period_end: string;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhook.usage.unrated": {
        parameters: {
            query?: never;
            header: {
                "webhook-id": string;
                "webhook-timestamp": number;
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    id: string;
                    /** @enum {string} */
                    type: "usage.unrated";
                    /** Format: date-time */
                    timestamp: string;
                    livemode: boolean;
                    data: {
                        token_usage_id: string;
                        customer_id: string;
                        hold_id: string | null;
                        rate_card: string;
                        /** Format: int64 */
                        version: number;
                        model: string;
                        unit: string;
                        unpriced: ("input" | "cache_read" | "cache_write" | "output" | "reasoning")[] | null;
                    };
                };
            };
        };
        responses: {
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}
